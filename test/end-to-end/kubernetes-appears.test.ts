import type { ChildProcess } from 'node:child_process'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'amqplib'
import { expect, onTestFinished, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { Workload } from '../kubernetes/resources.ts'
import { kubernetesPlace } from './kubernetes-place.ts'
import type { Ended } from './program.ts'

const here = kubernetesPlace({ VENDOR_RABBIT_DURABLE: 'false' })

const deployment = (): Workload => here.world.cluster.get('deployments', 'testops', 'testops-testops') as Workload
/** As an autoscaler does it. */
const appear = (): void =>
  here.world.cluster.update('deployments', deployment(), (it) => {
    ;(it as Workload).spec.replicas = 1
    it.metadata.generation = (it.metadata.generation ?? 1) + 1
  })
const isScaledToZero = (): boolean =>
  deployment().spec.replicas === 0 &&
  !here.world.cluster.pods.some(({ metadata }) => metadata.name.startsWith('testops-testops-'))
const until = async (is: () => boolean | Promise<boolean>): Promise<void> =>
  void (await expect.poll(is, { timeout: 60_000, interval: 20 }).toBe(true))

/** Puts messages into a queue of the service's that it does not read from. */
async function publish(count: number): Promise<void> {
  const connection = await connect(here.world.vhost.url)
  const channel = await connection.createConfirmChannel()
  for (let at = 0; at < count; at += 1)
    channel.sendToQueue('testops_system_dead_letter', Buffer.alloc(100), { persistent: true })
  await channel.waitForConfirms()
  await connection.close()
}

interface Appeared {
  ended: Ended
  document: RepairDocument
  /** from the appearance to the end of the process */
  afterMs: number
}

/** Runs a repair, and lets an instance appear while it is at the step. */
async function during(words: readonly string[], atStep: (said: () => string) => Promise<void>): Promise<Appeared> {
  let at = Number.NaN
  const failed: unknown[] = []
  const ended = await here.place.run([...words, '--json', '--confirm', 'prod', '--verbose'], {
    environment: { KUBECONFIG: here.world.kubeconfig },
    meanwhile(child: ChildProcess) {
      let said = ''
      child.stderr?.on('data', (text: string) => (said += text))
      void until(isScaledToZero)
        .then(async () => atStep(() => said))
        .then(
          () => {
            at = performance.now()
            appear()
          },
          (error: unknown) => {
            failed.push(error)
            child.kill('SIGKILL')
          },
        )
    },
  })
  const afterMs = performance.now() - at
  expect(failed).toEqual([])
  return { ended, document: JSON.parse(ended.stdout) as RepairDocument, afterMs }
}

const started = /^something else started the service while testops-admin was keeping it stopped: /

function expectEnded({ ended, document, afterMs }: Appeared): void {
  expect([ended.exitCode, document.error], ended.stderr).toEqual([
    6,
    expect.objectContaining({ code: 'INTERRUPTED', message: expect.stringMatching(started) as string }) as unknown,
  ])
  expect(afterMs, ended.stderr).toBeLessThan(5000)
}

/**
 * A connection of the service's user that is none of ours, as that of an instance elsewhere: it is waited for until it
 * is gone.
 */
async function lingering(): Promise<void> {
  const connection = await connect(here.world.vhost.url)
  connection.on('error', () => undefined)
  onTestFinished(async () => connection.close().catch(() => undefined))
}

const isLookedAt = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'GET' && /\/deployments\/testops-testops$/.test(url)

/**
 * Nothing that is asked of the service now is ever answered, as on connections to an API server that is gone; what is
 * asked later is.
 */
function lose(most: number): void {
  let lost = 0
  here.world.api.instead = (request) => isLookedAt(request) && ++lost <= most
}

test.each([
  { what: 'looks at the service', api: () => undefined },
  { what: 'loses what is asked on two connections', api: () => lose(2) },
  {
    what: 'closes all connections, and calls a version too old',
    api() {
      let refused = 0
      here.world.api.breakOff()
      here.world.api.instead = (request, response) => {
        if (!isLookedAt(request) || ++refused > 2) return false
        const body = {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'too old resource version: 1 (2)',
          reason: 'Expired',
          code: 410,
        }
        response.writeHead(410, { 'content-type': 'application/json' }).end(JSON.stringify(body))
        return true
      }
    },
  },
])(
  'an instance that appears while connections to the broker are waited for ends the run within 5 s, on an API ' +
    'server that is $what',
  async ({ api }) => {
    const appeared = await during(['reset-queues'], async () => {
      await lingering()
      await sleep(2000)
      api()
    })
    expectEnded(appeared)
  },
  180_000,
)

test('an instance that appears while many messages are moved ends the run within 5 s', async () => {
  await publish(40_000)
  here.world.ways.broker.slowDown(1_000_000)
  const appeared = await during(['reset-queues'], async (said) => {
    await until(() => said().includes('move the messages aside, to the temporary queues'))
    await sleep(2000)
  })
  here.world.ways.broker.slowDown(Number.POSITIVE_INFINITY)
  expectEnded(appeared)
  expect(appeared.ended.stderr).toMatch(
    /move the messages aside, to the temporary queues\n(?: .*\n)* +6\/12 +interrupted/,
  )
}, 180_000)
