import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LabStatusDocument } from '../../src/output/lab.ts'
import { ownLab } from '../lab/support/own-lab.ts'
import type { OwnLab } from '../lab/support/own-lab.ts'
import { randomFrom, seed } from './seed.ts'

const rounds = 20
const timeoutMs = 300_000
const random = randomFrom(`${seed} killed`)

let lab: OwnLab
beforeEach(async () => {
  lab = await ownLab()
})
afterEach(async () => expect(await lab.end()).toEqual([]), timeoutMs)

/** Kills the command after a part of the time that it takes, with all that it runs in its own group or alone. */
async function killed(words: readonly string[], afterMs: number, withGroup: boolean): Promise<void> {
  const { child, ended } = lab.start(...words)
  await Promise.race([sleep(afterMs), ended])
  try {
    process.kill(withGroup ? -child.pid! : child.pid!, 'SIGKILL')
  } catch {
    // it has ended by itself
  }
  await ended
}

test.each(
  Array.from({ length: rounds }, (_, round) => ({
    round,
    afterMs: Math.round(random() * 9000),
    withGroup: random() < 0.5,
  })),
)(
  'lab up killed after $afterMs ms ($round): the next lab up or down puts it right',
  async ({ round, afterMs, withGroup }) => {
    await killed(['lab', 'up'], afterMs, withGroup)
    if (round % 2 === 0) return
    await lab.must('lab', 'up')
    await lab.must('doctor', '-d', 'lab')
  },
  timeoutMs,
)

test.each(Array.from({ length: Math.ceil(rounds / 4) }, (_, round) => ({ round })))(
  'break and mend killed at any moment ($round): mend makes the lab healthy',
  async () => {
    const faults = [
      'stuck-lock',
      'stale-sessions',
      'clock-skew',
      'transient-refused',
      'database-down',
      'token-lifetime',
    ]
    await lab.must('lab', 'up')
    for (const fault of faults) {
      await killed(['lab', 'break', fault], Math.round(random() * 4000), random() < 0.5)
      await killed(['lab', 'mend'], Math.round(random() * 4000), random() < 0.5)
    }
    await lab.must('lab', 'mend')
    await lab.must('doctor', '-d', 'lab')
    expect((await lab.json<LabStatusDocument>('lab', 'status')).document.broken).toEqual([])
  },
  timeoutMs,
)
