import { beforeAll, describe, expect, test } from 'vitest'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { isCampaign } from '../../support/campaign.ts'
import { ordersOf } from './orders.ts'
import type { Deed } from './orders.ts'
import {
  all,
  argo,
  clientSide,
  done,
  former,
  helm3,
  helm4,
  is,
  legacy,
  managers,
  name,
  serverSide,
  slowSituation,
  valueOf,
  wanted,
  was,
} from './owners.ts'
import type { Owner } from './owners.ts'
import { after, before } from './situation.ts'
import type { Situation } from './situation.ts'

beforeAll(async () => {
  await kubernetesTools()
  await kubernetesTools({ isHelm3: true })
}, 300_000)

const withRelease = ordersOf(['set-env', 'legacy'], 2)
/** `use-legacy-image --apply` is for releases */
const without = ordersOf(['set-env'], 2)
const ordersFor = (owner: Owner): Deed[][] => (owner.hasRelease ? withRelease : without)
const every = all.flatMap((owner) => ordersFor(owner).map((order) => ({ owner, order })))
const each = (owner: Owner, ...orders: Deed[][]): typeof every => orders.map((order) => ({ owner, order }))
/** The two that failed once, and of each other way to keep objects one. */
const decisive = [
  ...each(
    helm4,
    ['set-env', 'upgrade', 'undo set-env', 'upgrade', 'legacy', 'undo legacy'],
    ['set-env', 'legacy', 'undo set-env', 'undo legacy', 'upgrade', 'upgrade'],
  ),
  ...each(helm3, ['legacy', 'upgrade', 'set-env', 'undo legacy', 'undo set-env', 'upgrade']),
  ...[clientSide, serverSide, argo].flatMap((owner) => each(owner, ['set-env', 'upgrade', 'undo set-env', 'upgrade'])),
]

test('the decisive orders are some of all', () => {
  expect(every).toEqual(expect.arrayContaining(decisive))
  expect([withRelease.length, without.length, new Set(withRelease.map(String)).size]).toEqual([90, 6, 90])
})

describe('no conflict for the owner, and no repair that is refused', () => {
  const told = (isCampaign ? every : decisive).map((it) => ({
    ...it,
    title: `${it.owner.what}: ${it.order.join(', ')}`,
  }))

  test.each(told)(
    '$title',
    async ({ owner, order }) => {
      const it = await slowSituation(owner.given)
      await owner.apply(it)
      const runs = new Map<Deed, string>()
      for (const [index, deed] of order.entries()) {
        await follow(it, deed, owner, runs)
        const so = order.slice(0, index + 1)
        const file = so.includes('legacy') && !so.includes('undo legacy')
        const seen = {
          so,
          image: it.image(),
          value: valueOf(it),
          text: await it.text(),
          isOwner: managers(it).includes('testops-admin'),
        }
        // whatever came after the setting has put the chart's own value there
        expect(seen).toEqual({
          so,
          image: file ? is : was,
          value: deed === 'set-env' ? wanted : former,
          text: file ? after : before,
          isOwner: false,
        })
      }
      await owner.apply(it, '7200')
      expect(valueOf(it)).toBe('7200')
    },
    240_000,
  )
})

async function follow(it: Situation, deed: Deed, owner: Owner, runs: Map<Deed, string>): Promise<void> {
  switch (deed) {
    case 'upgrade':
      await owner.apply(it)
      return
    case 'set-env':
      return void runs.set(deed, await done(it, ['set-env', `${name}=${wanted}`]))
    case 'legacy':
      return void runs.set(deed, await done(it, legacy))
    default:
      await done(it, ['undo', runs.get(deed.slice('undo '.length) as Deed)!])
  }
}
