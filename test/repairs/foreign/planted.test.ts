import amqp from 'amqplib'
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../../src/core/check.ts'
import type { RunEvent, RunRecord } from '../../../src/core/run.ts'
import type { HistoryDocument } from '../../../src/output/history.ts'
import { eventOf, planOf, recordOf } from '../../engine/repairing.ts'
import { faultsOf } from '../../output/schemas.ts'
import { stuck } from '../unlock-changelog/situation.ts'
import type { LockColumns, Situation } from '../unlock-changelog/situation.ts'
import { foreign } from '../support/operator.ts'

let at: Situation
let model: amqp.ChannelModel
let held: LockColumns
beforeAll(async () => {
  at = await stuck({ withBroker: true })
  const { host, port, user, password } = at.broker!.endpoint
  model = await amqp.connect({
    hostname: host,
    port,
    username: user,
    password: password!.reveal(),
    vhost: at.broker!.vhost,
  })
})
beforeEach(async () => void (held = await at.reset()))
afterAll(async () => {
  await model.close()
  await at.leave()
})

/** Somebody who may write to the broker puts that into a queue. */
async function plant(queue: string, messages: readonly unknown[], { isNew = true } = {}): Promise<void> {
  const channel = await model.createConfirmChannel()
  if (isNew) await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'classic' } })
  for (const it of messages)
    channel.sendToQueue(queue, Buffer.from(typeof it === 'string' ? it : JSON.stringify(it)), { persistent: true })
  await channel.waitForConfirms()
  await channel.close()
}

async function isThere(queue: string): Promise<boolean> {
  const channel = await model.createChannel()
  channel.on('error', () => undefined)
  return channel.checkQueue(queue).then(
    async () => channel.close().then(() => true),
    () => false,
  )
}

const agent = { kind: 'set-setting', name: 'JAVA_TOOL_OPTIONS', from: null, to: '-javaagent:/tmp/x.jar' } as const
const started = eventOf({ event: 'intent', step: 0 })
const record: RunRecord = recordOf({
  run: '20261121T021244Z-set-env-1f3a',
  plan: planOf({
    repair: 'set-env',
    verifiedBy: [],
    options: {},
    steps: [{ title: 'release the lock', action: agent, interrupts: false }],
  }),
})
const queue = `testops-admin.run.${record.run}`

describe('a journal that was planted in the broker', () => {
  test('is found for what it is, is not carried out, and is removed by the command that doctor prints', async () => {
    const here = await at.someone.elsewhere()
    await plant(queue, [record, started])
    const looked = await here.run(['doctor', '--json', '--only', 'service/unfinished-repair'])
    const { checks } = looked.json<DoctorReport>()
    expect([looked.code, checks[0]!.severity, checks[0]!.findings?.[0]?.message]).toEqual([
      2,
      'warning',
      `the saved record of run \`${record.run}\` in the broker does not belong to any repair of this deployment: ` +
        'the run sets JAVA_TOOL_OPTIONS, which only a run that was started on this machine may set',
    ])
    expect(checks[0]!.remedy?.commands).toEqual([expect.stringMatching(`^testops-admin discard ${record.run} -d prod`)])
    const settings = await readFile(at.service.settingsFile, 'utf8')
    for (const words of [
      ['resume', '--adopt', record.run, ...foreign],
      ['undo', record.run, ...foreign],
    ]) {
      const { code, stdout } = await here.repair(words)
      expect([code, stdout]).toEqual([
        4,
        expect.stringContaining('does not match this deployment: the run sets JAVA_TOOL_OPTIONS'),
      ])
    }
    expect([
      await readFile(at.service.settingsFile, 'utf8'),
      await readdir(join(here.state, 'testops-admin', 'prod', 'runs')).catch(() => []),
    ]).toEqual([settings, []])
    // nothing of a run stands, so that a repair is not kept waiting
    expect((await here.repair(['unlock-changelog'])).code).toBe(0)
    const removed = await here.repair(['discard', record.run])
    const { saved } = removed.json<{ saved: string }>()
    expect([
      removed.code,
      faultsOf('discard', removed.json()),
      await isThere(queue),
      (await stat(saved)).mode & 0o777,
    ]).toEqual([0, [], false, 0o600])
    expect(
      (await readFile(saved, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(JSON.parse(line) as string) as unknown),
    ).toEqual([record, started])
    expect((await here.run(['doctor', '--only', 'service/unfinished-repair'])).code).toBe(0)
  }, 60_000)

  test('under a name that is none leads nowhere', async () => {
    const here = await at.someone.elsewhere()
    const names = ['../../..', '$(touch canary)', 'x; touch canary', '..', '/etc']
    for (const name of names) await plant(`testops-admin.run.${name}`, [{ ...record, run: name }])
    const history = (await here.run(['history', '--json'])).json<HistoryDocument>()
    expect([
      history.runs.every(({ misfit }) => misfit !== undefined),
      history.runs.length + history.unreadable.length,
    ]).toEqual([true, names.length])
    for (const name of names) {
      const { code } = await here.repair(['resume', '--adopt', name, ...foreign])
      expect([name, [4, 64, 69].includes(code!)]).toEqual([name, true])
      expect((await here.repair(['discard', name])).code).toBe(0)
      expect(await isThere(`testops-admin.run.${name}`)).toBe(false)
    }
    expect(
      (await readdir(join(here.state, 'testops-admin', 'prod', 'discarded'))).every((it) =>
        /^record-[0-9a-f]{16}\.\d{8}T\d{6}Z\.jsonl$/.test(it),
      ),
    ).toBe(true)
  }, 120_000)

  test.each<[what: string, messages: readonly unknown[]]>([
    ['nothing', []],
    ['no JSON', ['{']],
    ['a list', [[]]],
    ['null', ['null']],
    ['an event alone', [started]],
    ['a plan that is a text', [{ ...record, plan: 'x' }]],
    [
      'an action that there is none of',
      [{ ...record, plan: { ...record.plan, steps: [{ title: 'x', action: { kind: 'rm' }, interrupts: false }] } }],
    ],
    ['thousands of records', Array.from({ length: 5000 }, (_, index) => ({ ...record, index }))],
    ['a nesting without end', [`${'['.repeat(100_000)}${']'.repeat(100_000)}`]],
    [
      'a kind from the prototype',
      [
        {
          ...record,
          plan: { ...record.plan, steps: [{ title: 'x', action: { kind: '__proto__' }, interrupts: false }] },
        },
      ],
    ],
  ])(
    'that holds %s ends no command with a bug',
    async (_, messages) => {
      const here = await at.someone.elsewhere()
      await plant(queue, messages)
      const codes = [
        (await here.run(['doctor', '--only', 'service/unfinished-repair'])).code,
        (await here.run(['history'])).code,
        (await here.repair(['resume', '--adopt', record.run, ...foreign])).code,
        (await here.run(['resume'])).code,
      ]
      expect(codes.filter((code) => code === 70 || code === null)).toEqual([])
      expect(codes[2]).not.toBe(0)
      expect((await here.repair(['discard', record.run])).code).toBe(0)
      expect(await isThere(queue)).toBe(false)
    },
    60_000,
  )
})

describe('a forged end of the deployment’s copy', () => {
  test.each<[what: string, events: readonly RunEvent[]]>([
    ['a step that is done', [eventOf({ event: 'done', step: 1, durationMs: 1 })]],
    [
      'all of the run',
      [
        eventOf({ event: 'done', step: 1, durationMs: 1 }),
        eventOf({ event: 'intent', step: 2 }),
        eventOf({ event: 'done', step: 2, durationMs: 1 }),
        eventOf({ event: 'ended', outcome: 'done' }),
      ],
    ],
  ])(
    '%s is asked of the deployment, and not believed',
    async (_, events) => {
      const here = await at.someone.elsewhere()
      await here.killedAt('release-lock:judged', ['unlock-changelog'])
      const [run] = (await here.run(['history', '--json'])).json<HistoryDocument>().runs
      await plant(`testops-admin.run.${run!.run}`, events, { isNew: false })
      const ended = await here.repair(['resume', run!.run])
      expect([ended.code, ended.stdout]).toEqual([
        4,
        expect.stringMatching(/step 2 .* is done, but the deployment shows that it is not done/),
      ])
      expect(await at.row()).toEqual(held)
      expect((await here.repair(['undo', run!.run])).code).toBe(0)
      expect([await at.row(), await at.service.isRunning()]).toEqual([held, true])
    },
    60_000,
  )
})
