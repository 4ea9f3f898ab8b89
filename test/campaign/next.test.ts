import { expect, test } from 'vitest'
import { faultRows } from '../../src/lab/fault-list.ts'
import { followNext } from '../faults/follow.ts'
import { rowTimeoutMs } from '../faults/matrix.ts'
import { sharedLab } from '../lab/support/own-lab.ts'
import { faultPairs } from './pairs.ts'

const lab = sharedLab()

/**
 * A repair that could not end because of what was broken is ended once that is mended: it is gone on with, or taken
 * back where it might wait for long, unless the service has started by then.
 */
async function mended(by: 'resume' | 'undo'): Promise<void> {
  if ((await lab.run('lab', 'mend')).exitCode === 0) return
  const { runs } = JSON.parse((await lab.run('history', '-d', 'lab', '--json')).stdout) as {
    runs: { run: string; state: string }[]
  }
  for (const { run } of runs.filter(({ state }) => state === 'unfinished')) {
    const end = [run, '-d', 'lab', '--confirm', 'lab']
    if (by === 'resume' || (await lab.run('undo', ...end)).exitCode !== 0) await lab.must('resume', ...end)
  }
  await lab.must('lab', 'mend')
}

const single = faultRows()
  .filter(({ kind, needs }) => kind === 'fault' && needs.broker !== '3')
  .map(({ name }) => ({ name, names: [name] }))
const pairs = faultPairs().map(({ name, one, other }) => ({ name, names: [one.name, other.name] }))

test.each([...single, ...pairs])(
  '$name: Next: as it is typed leads to health, or to one step by hand',
  async ({ names }) => {
    const { exitCode, stderr } = await lab.run('lab', 'break', ...names)
    let by: 'resume' | 'undo' = 'resume'
    try {
      // some causes exclude each other
      if (exitCode !== 0)
        expect(stderr).toMatch(
          /cannot make|cannot break|already|timed out after \d+ s|exited before the lab could kill it at/,
        )
      else if ((await followNext(lab)).isMigrating) by = 'undo'
    } finally {
      await mended(by)
    }
  },
  2 * rowTimeoutMs,
)
