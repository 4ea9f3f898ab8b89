import { expect, test } from 'vitest'
import { engineAt } from '../../../src/platforms/compose/index.ts'
import { folderWith } from '../../runtime/folder.ts'

test.each<[Record<string, string>, string | null]>([
  [{}, 'engine of the context staging'],
  [{ DOCKER_CONTEXT: 'prod' }, 'engine of the context prod'],
  [{ DOCKER_CONTEXT: 'default' }, null],
  [{ DOCKER_CONTEXT: 'prod', DOCKER_HOST: 'ssh://root@one' }, 'engine ssh://root@one'],
  [{ DOCKER_HOST: 'unix:///var/run/docker.sock' }, null],
  [{ CONTAINER_HOST: 'unix:///run/user/1000/podman/podman.sock' }, 'engine unix:///run/user/1000/podman/podman.sock'],
])('%j', async (environment, engine) => {
  const HOME = await folderWith({ '.docker/config.json': '{"currentContext": "staging"}' })
  expect(await engineAt({ environment: { HOME, ...environment } })).toBe(engine)
})

test('what cannot be read names none', async () => {
  expect(await engineAt({ environment: { HOME: await folderWith({ '.docker/config.json': '{' }) } })).toBeNull()
  expect(await engineAt({ environment: { HOME: await folderWith({}) } })).toBeNull()
})
