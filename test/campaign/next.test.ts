import { expect, test } from 'vitest'
import { faultRows } from '../../src/lab/fault-list.ts'
import { followNext } from '../faults/follow.ts'
import { rowTimeoutMs } from '../faults/matrix.ts'
import { sharedLab } from '../lab/support/own-lab.ts'
import { faultPairs, mended } from './pairs.ts'

const lab = sharedLab()

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
      await mended(lab, by)
    }
  },
  2 * rowTimeoutMs,
)
