import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { labLayout } from '../../src/lab/layout.ts'
import { asOperator } from '../../src/lab/operator-lock.ts'
import type { LabState } from '../../src/lab/state.ts'

const [status, up, mend, down] = ['status', 'up', 'mend', 'down'].map((command) => `testops-admin lab ${command}`)
const fault = { name: 'stuck-lock/waiting', since: '2026-11-21T10:00:00.000Z', state: 'half', changes: {} } as const

/** What an interrupted command that leaves the lab so says. */
async function interruptedWith(state: Pick<LabState, 'phase' | 'faults'> | string | null): Promise<AdminError> {
  const layout = labLayout(await mkdtemp(join(tmpdir(), 'testops-admin-interrupted-')))
  onTestFinished(() => rm(layout.root, { recursive: true, force: true }))
  const text = typeof state === 'string' ? state : state && JSON.stringify({ schemaVersion: 1, id: 'abcd', ...state })
  const interrupt = new AbortController()
  const work = async (): Promise<never> => {
    if (text !== null) await writeFile(layout.state, text)
    interrupt.abort()
    // whatever fails then fails because of the interruption
    throw new Error('a program was ended')
  }
  return asOperator(layout, 'lab up', work, { signal: interrupt.signal }).catch((error: unknown) => error as AdminError)
}

test.each([
  ['nothing', null, 'there is no lab now', [up]],
  ['a lab that was coming up', { phase: 'starting', faults: [] }, 'the lab is only partly up', [up, down]],
  ['a lab that is up', { phase: 'up', faults: [] }, 'the lab may be incomplete', [status, up, down]],
  [
    'a fault',
    { phase: 'up', faults: [fault] },
    'some faults in the lab may be only partly created or removed',
    [status, mend, down],
  ],
  ['half of a lab', { phase: 'stopping', faults: [fault] }, 'the lab is only partly removed', [down]],
  ['a damaged state', '{', 'the lab is only partly removed', [down]],
] as const)(
  'an interrupted command that leaves %s says so, and suggests what helps then',
  async (_what, state, left, suggestions) => {
    const error = await interruptedWith(state)
    expect(error).toMatchObject({ code: 'INTERRUPTED', exitCode: 6, message: `interrupted: ${left}`, suggestions })
    expect(error.cause).toEqual(new Error('a program was ended'))
  },
)

test('what fails without an interruption is told as it is', async () => {
  const layout = labLayout(join(tmpdir(), 'testops-admin-not-interrupted'))
  const failure = new AdminError('FAILED', 'the lab is not healthy', [mend!])
  const work = asOperator(layout, 'lab up', () => Promise.reject(failure), { signal: new AbortController().signal })
  await expect(work).rejects.toBe(failure)
})
