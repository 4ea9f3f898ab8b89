import { expect, test } from 'vitest'
import { openApi } from '../../../src/adapters/api/index.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { ApiSource } from '../../../src/core/sources.ts'
import { answersGiven, planAnswers } from '../../../src/lab/control.ts'
import { defaultVendor, settingNames } from '../../../src/knowledge/settings.ts'
import { admin } from './support/client.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, onEnd, startService, until } from './support/deployment.ts'
import type { Settings } from './support/deployment.ts'

const { tokenValiditySeconds } = settingNames(defaultVendor)

/** The service at a port of its own, and the client of the program, which is kept open as long work keeps it. */
async function longWork(
  changes: Settings = {},
): Promise<{ api: ApiSource; exchanges: () => Promise<number>; restart: () => Promise<void>; control: number }> {
  const on = await deployment()
  const settings = { ...on.settings, ...changes, SERVER_PORT: String(await freePort()) }
  const control = await freePort()
  const start = async (): ReturnType<typeof startService> => {
    const service = await startService(settings, { controlPort: control })
    await planAnswers(control, [{ path: '/api/uaa/oauth/token' }])
    return service
  }
  let service = await start()
  const opened = await openApi(
    { baseUrl: service.url, apiToken: new Secret(admin.apiToken), ca: null },
    { timeoutMs: 10_000 },
  )
  onEnd(() => Promise.resolve(opened.close()))
  const restart = async (): Promise<void> => {
    await service.stop()
    service = await start()
  }
  return { api: opened.source, exchanges: async () => (await answersGiven(control))[0]!, restart, control }
}

test('a token that is over while it is in use is renewed without a word', async () => {
  const { api, exchanges, control } = await longWork()
  expect(await api.currentUser()).toMatchObject({ username: 'admin' })
  expect(await api.currentUser()).toMatchObject({ username: 'admin' })
  expect(await exchanges()).toBe(1)
  await fetch(`http://127.0.0.1:${control}/clock`, { method: 'POST', body: '{"ms":3601000}' })
  const work = await Promise.all([api.currentUser(), api.migrationJobs({ status: null, atMost: 1 }), api.currentUser()])
  expect(work).toMatchObject([{ username: 'admin' }, { jobs: expect.any(Array) as unknown[] }, { username: 'admin' }])
  expect(await exchanges()).toBeGreaterThan(1)
})

test('a token of another start of the service, with another secret, is renewed without a word', async () => {
  const { api, exchanges, restart } = await longWork()
  expect(await api.currentUser()).toMatchObject({ username: 'admin' })
  await restart()
  expect(await exchanges()).toBe(0)
  expect(await api.currentUser()).toMatchObject({ username: 'admin' })
  expect(await exchanges()).toBe(1)
})

test('tokens of two seconds last for work of any length', async () => {
  const { api, exchanges } = await longWork({ [tokenValiditySeconds]: '2' })
  const users = new Set<unknown>()
  await until('the third token', async () => {
    users.add((await api.currentUser())['username'])
    return (await exchanges()) >= 3
  })
  expect([...users]).toEqual(['admin'])
})
