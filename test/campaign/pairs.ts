import { faultRows } from '../../src/lab/fault-list.ts'
import type { Row } from '../faults/matrix.ts'
import type { OwnLab } from '../lab/support/own-lab.ts'

/** Every two faults of the lab's usual broker, the first variant of each. */
export function faultPairs(): { name: string; one: Row; other: Row }[] {
  const single = faultRows().filter(({ kind, needs }) => kind === 'fault' && needs.broker !== '3')
  const firsts = single.filter((row, index) => single.findIndex(({ fault }) => fault === row.fault) === index)
  return firsts.flatMap((one, index) =>
    firsts.slice(index + 1).map((other) => ({ name: `${one.name} and ${other.name}`, one, other })),
  )
}

/**
 * A repair that could not end because of what was broken is ended once that is mended: it is gone on with, or taken
 * back where it might wait for long, unless the service has started by then.
 */
export async function mended(lab: OwnLab, by: 'resume' | 'undo'): Promise<void> {
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
