import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { drawFaults } from '../../src/lab/drill-draw.ts'
import type { LabDrillDocument, LabMendDocument, LabStatusDocument } from '../../src/output/lab.ts'
import { faultsOf } from '../output/schemas.ts'
import { sharedLab } from './support/own-lab.ts'

const timeoutMs = 180_000
const lab = sharedLab()

type Event = LabDrillDocument['event']
type Said<E extends Event> = LabDrillDocument & { event: E }

/** Returns what one call of `lab drill` prints, which must fit its schema. */
async function drill<E extends Event>(exitCode: number, event: E, ...words: string[]): Promise<Said<E>> {
  const said = await lab.json<LabDrillDocument>('lab', 'drill', ...words)
  expect(faultsOf('lab-drill', said.document)).toEqual([])
  expect({ exitCode: said.exitCode, event: said.document.event }, said.stderr).toEqual({ exitCode, event })
  return said.document as Said<E>
}

/** Returns a seed that draws these faults. */
function seedOf(...names: string[]): string {
  const all = Array.from({ length: 2000 }, (_, seed) => seed)
  const faults = names.length === 2 ? 2 : 1
  const found = all.find((seed) => {
    const drawn = drawFaults({ faults, seed, only: null }, '4.3')
    return drawn.map(({ name }) => name).join() === names.join()
  })
  expect(found).toBeDefined()
  return String(found)
}

const status = async (): Promise<LabStatusDocument> => (await lab.json<LabStatusDocument>('lab', 'status')).document

test(
  'a drill, from its beginning to the record of it',
  async () => {
    const begun = await lab.run('lab', 'drill', '--seed', seedOf('stale-sessions/ahead'))
    expect(begun.exitCode, begun.stderr).toBe(0)
    const plain = await lab.run('lab', 'status')
    for (const said of [begun.stdout, begun.stderr, plain.stdout, readFileSync(join(lab.root, 'lab.json'), 'utf8')])
      expect(said).not.toMatch(/stale|sessions\/clock/)
    expect(await status()).toMatchObject({ broken: [], drill: { phase: 'running' } })

    const { drill: first } = await drill(0, 'standing')
    expect(first).toMatchObject({ faults: 1, named: [], wrong: 0, doctor: 1, stopped: [] })
    expect(await drill(2, 'answered', '--answer', 'broker/alarms')).toMatchObject({
      answer: { verdict: 'wrong' },
      drill: { wrong: 1 },
    })
    expect(await drill(0, 'answered', '--answer', 'sessions/clock')).toMatchObject({
      answer: { verdict: 'right' },
      drill: { named: ['sessions/clock'] },
    })
    expect((await drill(1, 'standing', '--done')).drill.doctor).toBe(1)
    expect(await lab.json('lab', 'break', 'debug-left-on')).toMatchObject({
      exitCode: 4,
      document: { error: { code: 'REFUSED' } },
    })

    await lab.must('flush-sessions', '--stale', '-d', 'lab', '--confirm', 'lab')
    const { past, faults } = await drill(0, 'ended', '--done')
    expect(past).toMatchObject({ outcome: 'done', wrong: 1, isByClock: false })
    expect([past.diagnosisSeconds, past.healthySeconds]).toEqual([expect.any(Number), expect.any(Number)])
    expect(faults).toMatchObject([
      {
        name: 'stale-sessions/ahead',
        rootCauses: ['sessions/clock'],
        quickest: [
          'testops-admin doctor -d lab',
          'testops-admin explain sessions/clock',
          'testops-admin flush-sessions --stale -d lab',
        ],
      },
    ])
    expect(await status()).toMatchObject({ broken: [], drill: null })
    expect((await lab.run('doctor', '-d', 'lab')).exitCode).toBe(0)
    expect((await drill(0, 'history', '--history')).drills.at(-1)).toEqual(past)
  },
  timeoutMs,
)

test(
  'two faults at once are both named and both mended',
  async () => {
    const seed = seedOf('service-down', 'debug-left-on')
    const { drill: begun } = await drill(0, 'begun', '--faults', '2', '--seed', seed)
    expect(begun).toMatchObject({ faults: 2, named: [] })
    await drill(0, 'answered', '--answer', 'integrations/debug-logging')
    const { drill: named } = await drill(0, 'answered', '--answer', 'service-down')
    expect(named.named).toEqual(['integrations/debug-logging', 'service/running'])
    const steps = [
      ['service', 'start', '-d', 'lab'],
      ['set-env', '--integration-debug', 'off', '-d', 'lab'],
    ]
    for (const words of steps) await lab.must(...words, '--confirm', 'lab')
    const { faults } = await drill(0, 'ended', '--done')
    const shown = faults.flatMap(({ quickest }) => quickest)
    expect(steps.map((words) => shown.includes(`testops-admin ${words.join(' ')}`))).toEqual([true, true])
  },
  timeoutMs,
)

describe('a drill that is given up', () => {
  test(
    'shows the answer, mends the lab, and is on record',
    async () => {
      await drill(0, 'begun', '--seed', seedOf('service-down'))
      const { past, faults } = await drill(0, 'ended', '--give-up')
      expect(past).toMatchObject({ outcome: 'given-up', diagnosisSeconds: null, healthySeconds: null })
      expect(faults.map(({ name }) => name)).toEqual(['service-down'])
      expect((await lab.run('doctor', '-d', 'lab')).exitCode).toBe(0)
    },
    timeoutMs,
  )

  test(
    'by lab mend counts as given up, and it says so',
    async () => {
      await drill(0, 'begun', '--seed', seedOf('service-down'))
      const { exitCode, document, stderr } = await lab.json<LabMendDocument>('lab', 'mend')
      expect({ exitCode, document }).toMatchObject({
        exitCode: 0,
        document: { mended: ['service-down'], healthy: true, drill: { outcome: 'mended' } },
      })
      expect(faultsOf('lab-mend', document)).toEqual([])
      expect(stderr).toContain('this ends the drill, which counts as given up')
      expect((await drill(0, 'history', '--history')).drills.at(-1)).toEqual(document.drill)
    },
    timeoutMs,
  )
})

test(
  'Ctrl-C while the lab is being broken leaves a drill that has not begun',
  async () => {
    const begun = lab.start('lab', 'drill', '--seed', seedOf('stuck-lock/given-up'))
    begun.child.stderr!.on('data', (bytes: Buffer) => {
      if (bytes.toString().includes('breaking the lab')) begun.interrupt()
    })
    expect(await begun.ended).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('lab mend') as string })
    expect(await status()).toMatchObject({ broken: [], drill: { phase: 'breaking', startedAt: null } })
    expect(await lab.json('lab', 'drill')).toMatchObject({ exitCode: 4, document: { error: { code: 'REFUSED' } } })
    await lab.must('lab', 'mend')
    expect(await status()).toMatchObject({ broken: [], drill: null })
  },
  timeoutMs,
)

test('a lab that is broken by hand is not drilled', async () => {
  await lab.must('lab', 'break', 'image-version-mismatch')
  expect(await lab.json('lab', 'drill')).toMatchObject({
    exitCode: 4,
    document: {
      error: {
        message: 'cannot begin a drill: the lab is broken by image-version-mismatch',
        suggestions: ['testops-admin lab mend'],
      },
    },
  })
  await lab.must('lab', 'mend')
})

test.each([
  [['--done', '--give-up'], /--give-up/],
  [['--answer', 'broker/alarms', '--faults', '2'], /--faults/],
  [['--faults', '3'], /--faults/],
  [['--seed', '-1'], /seed/],
])('%j is wrong usage', async (words, said) => {
  const { exitCode, stderr } = await lab.run('lab', 'drill', ...words)
  expect([exitCode, stderr]).toEqual([64, expect.stringMatching(said)])
})
