import { faultRows } from '../../src/lab/fault-list.ts'
import type { Row } from '../faults/matrix.ts'
import { randomFrom, seed } from './seed.ts'

const most = Number(process.env['CAMPAIGN_PAIRS'] ?? Infinity)

/**
 * Every two faults of the lab's usual broker, the first variant of each, in an order by chance; `CAMPAIGN_PAIRS` of
 * them at most.
 */
export function faultPairs(what: string): { name: string; one: Row; other: Row }[] {
  const random = randomFrom(`${seed} ${what}`)
  const single = faultRows().filter(({ kind, needs }) => kind === 'fault' && needs.broker !== '3')
  const firsts = single.filter((row, index) => single.findIndex(({ fault }) => fault === row.fault) === index)
  return firsts
    .flatMap((one, index) =>
      firsts.slice(index + 1).map((other) => ({ name: `${one.name} and ${other.name}`, one, other })),
    )
    .map((pair) => ({ pair, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, most)
    .map(({ pair }) => pair)
}
