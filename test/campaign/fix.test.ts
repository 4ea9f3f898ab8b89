import { expect, test } from 'vitest'
import { fixes } from '../../src/cli/doctor/fix-steps.ts'
import type { FixDocument } from '../../src/cli/doctor/fix.ts'
import { faultRows } from '../../src/lab/fault-list.ts'
import type { FaultRow } from '../../src/lab/fault-list.ts'
import { rowTimeoutMs } from '../faults/matrix.ts'
import { sharedLab } from '../lab/support/own-lab.ts'
import { faultPairs, mended } from './pairs.ts'

const lab = sharedLab()
const alone = faultRows().filter(({ kind }) => kind === 'fault')

/** Faults that `doctor --fix` mends by a command of its own: `service start` and `resume`. */
const mendedByOthers = ['service-down', 'unfinished-repair/here']

/** True if a repair that decides nothing for a person mends it: `discard` gives up a record. */
const isRepaired = ({ name, repairedBy }: Pick<FaultRow, 'name' | 'repairedBy'>): boolean =>
  mendedByOthers.includes(name) || (repairedBy !== null && repairedBy[0] !== 'discard')

/**
 * With every repair confirmed, it ends healthy; or it stops for a person (4), for a repair that failed (1), or for a
 * check that cannot be judged (3), and says so.
 */
test.each([
  ...alone.map((row) => ({ title: row.name, names: [row.name], endsHealthy: isRepaired(row) })),
  ...faultPairs().map(({ name, one, other }) => ({
    title: name,
    names: [one.name, other.name],
    endsHealthy: isRepaired(one) && isRepaired(other),
  })),
])(
  'doctor --fix with $title, healthy: $endsHealthy',
  async ({ names, endsHealthy }) => {
    const { exitCode: broke } = await lab.json('lab', 'break', ...names)
    try {
      if (names.length === 1) expect(broke).toBe(0)
      if (broke !== 0) return
      const { exitCode, document } = await lab.json<FixDocument>(
        'doctor',
        '-d',
        'lab',
        '--fix',
        '--fix-warnings',
        '--confirm',
        'lab',
        '--repairs',
        fixes.join(','),
      )
      const { repairs, before, after, error } = document
      if (endsHealthy) expect({ exitCode, error }).toEqual({ exitCode: 0 })
      // a person is asked before anything is tried, unless a repair may help
      if (exitCode === 4 && names.length === 1) expect(repairs).toEqual([])
      if (exitCode === 0) expect(after.rootCauses).toEqual([])
      else if (exitCode === 3) expect(after.summary.unknown).toBeGreaterThan(0)
      else
        expect({ exitCode, error: error?.message }).toEqual({
          exitCode: expect.toBeOneOf([1, 4, 6]) as number,
          error: expect.any(String) as string,
        })
      // nothing was done: nothing is different
      if (repairs.length === 0) expect(after.rootCauses).toEqual(before.rootCauses)
      expect(repairs.slice(0, -1).every(({ outcome }) => outcome === 'done')).toBe(true)
    } finally {
      await mended(lab, 'resume')
    }
  },
  // a repair waits ten minutes for a service that another problem keeps down
  4 * rowTimeoutMs,
)
