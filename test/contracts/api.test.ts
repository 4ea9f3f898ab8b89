import { describe, expect, test } from 'vitest'
import { openApi, openApiControl } from '../../src/adapters/api/index.ts'
import { Secret } from '../../src/core/secret.ts'
import { seedProjects, seedTrees } from '../../src/lab/practice-service/data/seeds.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { admin, guest } from '../lab/practice-service/support/client.ts'
import { deployment, sql, startService } from '../lab/practice-service/support/deployment.ts'
import { apiToken as rightToken, service } from '../adapters/service.ts'
import { apiControlContract } from './api-control.ts'
import { apiContract } from './api.ts'

describe('api', () => {
  apiContract(async ({ apiToken = 'right', tokenLifeSeconds, health, migrationJobs, projects }) => {
    const { url } = await service({
      ...(tokenLifeSeconds === undefined ? {} : { tokenLifeSeconds }),
      ...(health === undefined ? {} : { health }),
      ...(migrationJobs === undefined ? {} : { migrationJobs }),
      ...(projects === undefined ? {} : { projects }),
    })
    const token = { right: new Secret(rightToken), wrong: new Secret('another'), none: null }[apiToken]
    return openApi({ baseUrl: url, apiToken: token, ca: null }, { timeoutMs: 5000 })
  })
})

describe('api control', () => {
  apiControlContract(async ({ user = 'admin' }) => {
    const { url, migrated } = await service({ mayMigrate: user === 'admin' })
    const apiToken = user === 'no token' ? null : new Secret(user === 'wrong token' ? 'another' : rightToken)
    return {
      ...(await openApiControl({ baseUrl: url, apiToken, ca: null }, { timeoutMs: 5000 })),
      begun: async () => migrated,
    }
  })
})

test("the lab's service lists its projects and their trees", async () => {
  const { url } = await startService((await deployment()).settings)
  const { source, close } = await openApi(
    { baseUrl: url, apiToken: new Secret(admin.apiToken), ca: null },
    { timeoutMs: 5000 },
  )
  expect(await source.projects()).toEqual(seedProjects.map(({ id, name }) => ({ id, name })))
  for (const { id } of seedProjects) {
    expect(await source.trees(id)).toEqual(
      seedTrees.filter(({ projectId }) => projectId === id).map(({ id: tree, name }) => ({ id: tree, name })),
    )
  }
  expect(await failureOf(source.trees(987_654))).toMatch(/^USAGE project 987654 does not exist at /)
  await close()
})

describe("api control, at the lab's service", () => {
  apiControlContract(async ({ user = 'admin' }) => {
    const on = await deployment()
    const { url } = await startService(on.settings)
    // the lab begins with trees that have been migrated
    await sql(on, 'DELETE FROM async_job')
    const token = { admin: admin.apiToken, guest: guest.apiToken, 'wrong token': 'another', 'no token': null }[user]
    const apiToken = token === null ? null : new Secret(token)
    const begun = async (): Promise<string[]> => {
      const jobs = await sql<{ name: string }>(on, 'SELECT name FROM async_job ORDER BY id')
      return jobs.flatMap(({ name }) => {
        const [, project, tree] = /project (\d+), tree (\d+)/.exec(name) ?? []
        return project === undefined ? [] : [`${project}/${tree}`]
      })
    }
    return { ...(await openApiControl({ baseUrl: url, apiToken, ca: null }, { timeoutMs: 5000 })), begun }
  })
})
