import { expect, test } from 'vitest'
import type { ApiControl, MigrationItem } from '../../src/core/api-control.ts'
import type { Opened } from '../../src/core/endpoint.ts'
import { AdminError } from '../../src/core/error.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { migrationCall } from '../fakes/index.ts'
import { expectPlain } from './plain.ts'

export interface ApiControlSituation {
  /** an administrator's unless told otherwise; a guest has no role in any project */
  user?: 'admin' | 'guest' | 'wrong token' | 'no token'
}

interface InSituation extends Opened<ApiControl> {
  /** trees whose migration has begun, '1/2'; there is project 1, with trees 1 and 2 */
  begun: () => Promise<readonly string[]>
}

/** What every control of the API keeps. */
export function apiControlContract(open: (situation: ApiControlSituation) => Promise<InSituation>): void {
  const tree: MigrationItem = { project: 1, tree: 2 }

  test('asks for the trees of a project, and for one tree', async () => {
    const { source, close, begun } = await open({})
    for (const item of [{ project: 1, tree: null }, tree]) {
      const answer = await source.migrateTrees(item, migrationCall())
      expectPlain(answer)
      expect(answer).toEqual({ status: 'accepted' })
    }
    expect(await begun()).toEqual(['1/1', '1/2', '1/2'])
    await close()
  })

  const refusals = [
    {
      what: 'a project that is not there',
      item: { project: 987_654, tree: null },
      user: 'admin',
      httpStatus: 404,
      says: /987654/,
    },
    {
      what: 'a tree that is not there',
      item: { project: 1, tree: 987_654 },
      user: 'admin',
      httpStatus: 404,
      says: /987654/,
    },
    { what: 'who may not', item: { project: 1, tree: 2 }, user: 'guest', httpStatus: 403, says: /Access is denied/ },
  ] as const
  test.each(refusals)('$what is refused', async ({ item, user, httpStatus, says }) => {
    const { source, close, begun } = await open({ user })
    const answer = await source.migrateTrees(item, migrationCall())
    expectPlain(answer)
    expect(answer).toMatchObject({ status: 'refused', httpStatus })
    expect(answer.status === 'refused' && answer.message).toMatch(says)
    expect(await begun()).toEqual([])
    await close()
  })

  test.each([
    { user: 'wrong token', error: /^UNAUTHENTICATED POST \S+\/api\/uaa\/oauth\/token refused the API token/ },
    { user: 'no token', error: /^NOT_CONFIGURED no `apiToken` is configured$/ },
  ] as const)('$user', async ({ user, error }) => {
    const { source, close } = await open({ user })
    expect(await failureOf(source.migrateTrees(tree, migrationCall()))).toMatch(error)
    await close()
  })

  test('asks for nothing once it is to stop', async () => {
    const { source, close, begun } = await open({})
    const stop = new AbortController()
    stop.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
    expect(await failureOf(source.migrateTrees(tree, migrationCall({ signal: stop.signal })))).toBe(
      'INTERRUPTED interrupted by SIGINT',
    )
    expect(await begun()).toEqual([])
    await close()
  })
}
