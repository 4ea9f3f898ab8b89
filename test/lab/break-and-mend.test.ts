import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import type { LabState } from '../../src/lab/state.ts'
import type { LabBreakDocument, LabMendDocument, LabStatusDocument, LabUpDocument } from '../../src/output/lab.ts'
import { decisive } from '../support/campaign.ts'
import { ownLab, sharedLab } from './support/own-lab.ts'
import type { OwnLab } from './support/own-lab.ts'

const timeoutMs = 180_000

describe('without a lab', () => {
  test.each([
    [['lab', 'break', 'api-slow'], 69, 'UNAVAILABLE'],
    [['lab', 'mend'], 69, 'UNAVAILABLE'],
    [['lab', 'break', 'stuck-lok'], 64, 'USAGE'],
    [['lab', 'mend', 'no-such-thing'], 64, 'USAGE'],
    [['lab', 'break'], 64, 'USAGE'],
    [['doctor', '-d', 'lab'], 64, 'CONFIGURATION'],
  ])('%j ends with %i and makes nothing', async (words, exitCode, code) => {
    const nowhere = await ownLab()
    expect(await nowhere.json(...words)).toMatchObject({ exitCode, document: { error: { code } } })
    expect((await nowhere.json<LabStatusDocument>('lab', 'status')).document.phase).toBe('absent')
    expect(existsSync(nowhere.root)).toBe(false)
    expect(await nowhere.end()).toEqual([])
  })
})

describe('with a lab', () => {
  const lab = sharedLab()

  const broken = async (): Promise<string[]> =>
    (await lab.json<LabStatusDocument>('lab', 'status')).document.broken.map(({ name, state }) => `${name} ${state}`)

  test('an unknown fault is named with what is near', async () => {
    const { exitCode, document } = await lab.json('lab', 'break', 'stuck-lok', 'api-slow')
    expect(exitCode).toBe(64)
    expect(document).toMatchObject({
      error: {
        message: 'no fault `stuck-lok`; did you mean `stuck-lock`?',
        suggestions: expect.arrayContaining(['testops-admin lab break stuck-lock']) as unknown,
      },
    })
    expect(await broken()).toEqual([])
  })

  test('mend with nothing broken says so', async () => {
    const { exitCode, document } = await lab.json<LabMendDocument>('lab', 'mend')
    expect({ exitCode, document }).toEqual({
      exitCode: 0,
      document: { schemaVersion: 1, mended: [], remaining: [], healthy: true },
    })
  })

  test(
    'mend with nothing broken brings back a server that died',
    async () => {
      const pid = /process (\d+)/.exec(
        (await lab.json<LabStatusDocument>('lab', 'status')).document.service!.detail,
      )![1]
      process.kill(Number(pid), 'SIGKILL')
      expect(await lab.json<LabMendDocument>('lab', 'mend')).toMatchObject({
        exitCode: 0,
        document: { mended: [], healthy: true },
      })
    },
    timeoutMs,
  )

  test(
    'a fault is made once, its variants exclude each other, and one of two is mended',
    async () => {
      const made = await lab.json<LabBreakDocument>('lab', 'break', 'clock-skew', 'image-version-mismatch')
      expect(made.document.made.map(({ name }) => name)).toEqual(['clock-skew/far', 'image-version-mismatch'])
      expect(await lab.json<LabBreakDocument>('lab', 'break', 'clock-skew/far')).toMatchObject({
        exitCode: 0,
        document: { made: [], already: ['clock-skew/far'] },
      })
      expect(await lab.json('lab', 'break', 'clock-skew/slight')).toMatchObject({
        exitCode: 4,
        document: { error: { code: 'REFUSED', suggestions: ['testops-admin lab mend clock-skew/far'] } },
      })
      expect(await lab.json<LabUpDocument>('lab', 'up')).toMatchObject({
        exitCode: 0,
        document: { already: true, started: [], broken: [{}, {}] },
      })
      expect(await lab.json<LabMendDocument>('lab', 'mend', 'clock-skew')).toMatchObject({
        exitCode: 0,
        document: { mended: ['clock-skew/far'], remaining: ['image-version-mismatch'], healthy: null },
      })
      expect((await lab.run('doctor', '-d', 'lab')).exitCode).toBe(2)
      expect(await lab.json<LabMendDocument>('lab', 'mend')).toMatchObject({
        exitCode: 0,
        document: { mended: ['image-version-mismatch'], healthy: true },
      })
    },
    timeoutMs,
  )

  test(
    'what a repair has set stays when another fault is made, until both are mended',
    async () => {
      const setting = (): string | undefined =>
        /^VENDOR_RABBIT_DURABLE=(.*)$/m.exec(readFileSync(join(lab.root, 'service/service.env'), 'utf8'))?.[1]
      await lab.must('lab', 'break', 'durable-mismatch/setting-false')
      expect(setting()).toBe('false')
      await lab.must('reset-queues', '-d', 'lab', '--confirm', 'lab')
      expect(setting()).toBe('true')
      await lab.must('lab', 'break', 'debug-left-on')
      expect(setting()).toBe('true')
      expect((await lab.json<DoctorReport>('doctor', '-d', 'lab')).document.rootCauses).toEqual([
        'integrations/debug-logging',
      ])
      await lab.must('lab', 'mend')
      expect(setting()).toBe('true')
    },
    timeoutMs,
  )

  test(
    'a fault that stops a server comes after those that have to reach it, and both are mended',
    async () => {
      const made = await lab.json<LabBreakDocument>(
        'lab',
        'break',
        'sessions-down',
        'database-down',
        'store-full',
        'stuck-lock',
      )
      expect(made.exitCode).toBe(0)
      const names = made.document.made.map(({ name }) => name)
      expect(names.slice(-2).sort()).toEqual(['database-down', 'sessions-down'])
      expect((await lab.run('doctor', '-d', 'lab')).exitCode).toBe(1)
      expect(await lab.json<LabMendDocument>('lab', 'mend')).toMatchObject({
        exitCode: 0,
        document: { remaining: [], healthy: true },
      })
    },
    timeoutMs,
  )

  test(
    'an alarm is raised before the broker is stopped, or refused at once',
    async () => {
      const made = await lab.json<LabBreakDocument>('lab', 'break', 'broker-down', 'broker-alarm/memory')
      expect(made.document.made.map(({ name }) => name)).toEqual(['broker-alarm/memory', 'broker-down'])
      await lab.must('lab', 'mend')
      await lab.must('lab', 'break', 'broker-down')
      expect(await lab.json('lab', 'break', 'broker-alarm/disk')).toMatchObject({
        exitCode: 4,
        document: {
          error: {
            message: 'cannot create fault broker-alarm/disk: fault broker-down stops RabbitMQ',
            suggestions: ['testops-admin lab mend broker-down'],
          },
        },
      })
      expect(await broken()).toEqual(['broker-down broken'])
      await lab.must('lab', 'mend')
    },
    timeoutMs,
  )

  test(
    'a fault that takes a service which works comes before one that keeps it from working, or is refused at once',
    async () => {
      const made = await lab.json<LabBreakDocument>('lab', 'break', 'service-down', 'api-slow')
      expect(made.document.made.map(({ name }) => name)).toEqual(['api-slow', 'service-down'])
      const started = performance.now()
      expect(await lab.json('lab', 'break', 'unknown-host')).toMatchObject({
        exitCode: 4,
        document: {
          error: {
            message:
              'cannot create fault unknown-host: the practice service does not answer ' +
              '(broken by api-slow, service-down)',
            suggestions: ['testops-admin lab mend', 'testops-admin lab break unknown-host api-slow service-down'],
          },
        },
      })
      expect(performance.now() - started).toBeLessThan(15_000)
      expect(await broken()).toEqual(['api-slow broken', 'service-down broken'])
      await lab.must('lab', 'mend')
    },
    timeoutMs,
  )

  test(
    'of two operators the second is told who is at work',
    async () => {
      const first = lab.start('lab', 'break', 'stuck-lock/given-up')
      await until(() => existsSync(join(lab.root, 'operator.lock')))
      for (const words of [
        ['lab', 'mend'],
        ['lab', 'up'],
        ['lab', 'down'],
        ['lab', 'break', 'api-slow'],
      ]) {
        const { exitCode, document } = await lab.json<{ error: { code: string; message: string } }>(...words)
        expect(`${words.join(' ')} ${exitCode} ${document.error.code}`).toBe(`${words.join(' ')} 5 BUSY`)
        expect(document.error.message).toMatch(
          new RegExp(
            `^another operator has been running \`lab break stuck-lock/given-up\` \\(process ` +
              `${first.child.pid}\\) on this lab since 20`,
          ),
        )
      }
      expect((await lab.json<LabStatusDocument>('lab', 'status')).document.operator).toMatchObject({
        pid: first.child.pid,
      })
      expect((await first.ended).exitCode).toBe(0)
      await lab.must('lab', 'mend')
    },
    timeoutMs,
  )

  test.each(['SIGKILL', 'SIGINT'] as const)(
    'half a break that was ended by %s is mended',
    async (signal) => {
      for (const afterMs of decisive(signal === 'SIGKILL' ? [150, 0, 400] : [0, 150, 400], 1)) {
        const half = lab.start('lab', 'break', 'stuck-lock/waiting', 'store-full')
        await until(() => stateOf(lab).faults.length > 0)
        await sleep(afterMs)
        if (signal === 'SIGINT') half.interrupt()
        else half.child.kill(signal)
        const { exitCode, stderr } = await half.ended
        if (signal === 'SIGINT') {
          expect(exitCode).toBe(6)
          expect(stderr).toMatch(
            new RegExp(
              String.raw`Error: interrupted: some faults in the lab may be only partly created or removed\n\n` +
                String.raw`Try:\n.*lab status\n.*lab mend\n.*lab down\n$`,
            ),
          )
        }
        expect((await broken()).length).toBeGreaterThan(0)
        expect(await lab.json<LabMendDocument>('lab', 'mend')).toMatchObject({
          exitCode: 0,
          document: { healthy: true },
        })
      }
    },
    timeoutMs,
  )

  test(
    'an exchange of the broker that was killed half way is shown as far as it went, and mended',
    async () => {
      const half = lab.start('lab', 'break', 'transient-ahead')
      await until(() => existsSync(join(lab.root, 'servers/rabbitmq-3/server.json')))
      half.child.kill('SIGKILL')
      await half.ended
      const { exitCode, document } = await lab.json<LabStatusDocument>('lab', 'status')
      expect({ exitCode, kinds: [...new Set(document.servers.map(({ kind }) => kind))].sort() }).toEqual({
        exitCode: 0,
        kinds: ['postgres', 'rabbitmq', 'redis'],
      })
      expect((await lab.json<LabUpDocument>('lab', 'up')).document).toMatchObject({
        already: true,
        started: [],
        broken: [{ name: 'transient-ahead', state: 'half' }],
      })
      expect(await lab.json<LabMendDocument>('lab', 'mend')).toMatchObject({ exitCode: 0, document: { healthy: true } })
    },
    timeoutMs,
  )

  test(
    'half a mend that was killed is finished by the next',
    async () => {
      for (const afterMs of decisive([300, 50, 800], 1)) {
        await lab.must('lab', 'break', 'broker-down', 'stuck-lock/waiting')
        const half = lab.start('lab', 'mend')
        await until(() => stateOf(lab).faults.some(({ state }) => state === 'half'))
        await sleep(afterMs)
        half.child.kill('SIGKILL')
        await half.ended
        expect(await lab.json<LabMendDocument>('lab', 'mend')).toMatchObject({
          exitCode: 0,
          document: { healthy: true },
        })
        expect(await broken()).toEqual([])
      }
    },
    timeoutMs,
  )

  test(
    'a port that somebody took meanwhile is named',
    async () => {
      const { document } = await lab.json<LabStatusDocument>('lab', 'status')
      const port = Number(new URL(document.service!.url).port)
      await lab.must('lab', 'break', 'service-down')
      const squatter = createServer()
      await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve))
      try {
        const refused = await lab.json<{ error: { code: string; message: string } }>('lab', 'mend')
        expect(refused.exitCode).toBe(69)
        expect(refused.document.error.message).toContain(`port ${port} `)
      } finally {
        await new Promise((resolve) => squatter.close(resolve))
      }
      expect(await lab.json<LabMendDocument>('lab', 'mend')).toMatchObject({ exitCode: 0, document: { healthy: true } })
    },
    timeoutMs,
  )
})

function stateOf({ root }: OwnLab): LabState {
  return JSON.parse(readFileSync(join(root, 'lab.json'), 'utf8')) as LabState
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !isSo(); await sleep(5)) if (Date.now() > end) throw new Error('waited in vain')
}
