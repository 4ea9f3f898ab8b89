import { faultRows } from '../../src/lab/fault-list.ts'
import type { Row } from '../faults/matrix.ts'

/** Every two faults of the lab's usual broker, the first variant of each. */
export function faultPairs(): { name: string; one: Row; other: Row }[] {
  const single = faultRows().filter(({ kind, needs }) => kind === 'fault' && needs.broker !== '3')
  const firsts = single.filter((row, index) => single.findIndex(({ fault }) => fault === row.fault) === index)
  return firsts.flatMap((one, index) =>
    firsts.slice(index + 1).map((other) => ({ name: `${one.name} and ${other.name}`, one, other })),
  )
}
