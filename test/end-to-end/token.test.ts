import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closedPort } from '../adapters/peers.ts'
import { apiToken, service } from '../adapters/service.ts'
import { faultsOf } from '../output/schemas.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

let place: Place
beforeAll(async () => void (place = await freshPlace()))
afterAll(async () => place.remove())

async function configured(url: string, token = 'apiToken: {env: TESTOPS_TOKEN}'): Promise<string> {
  return place.write('testops-admin.yaml', `deployments:\n  prod:\n    url: ${url}\n    ${token}\n`)
}
const environment = { TESTOPS_TOKEN: apiToken }

describe('token', () => {
  test('is alone on standard output, and works', async () => {
    const { url, received } = await service()
    await configured(url)
    const { stdout, stderr, exitCode } = await place.run(['token'], { environment })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+\n$/)
    expect(stderr).toMatch(/^This token expires in 3,\d{3} s, at \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\.\n$/)
    expect((await fetch(`${url}/api/uaa/me`, { headers: { authorization: `Bearer ${stdout.trim()}` } })).status).toBe(
      200,
    )
    const shown = received.filter((request) => JSON.stringify(request).includes(apiToken))
    expect(shown.map(({ path }) => path)).toEqual(['/api/uaa/oauth/token'])
  })

  test('as a document', async () => {
    const { url } = await service()
    await configured(url)
    const { stdout, stderr, exitCode } = await place.run(['token', '--json'], { environment })
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^This token expires in /)])
    expect(faultsOf('token', JSON.parse(stdout))).toEqual([])
    expect(stdout).not.toContain(apiToken)
  })
})

describe('whoami', () => {
  test('shows the user', async () => {
    const { url } = await service()
    await configured(url)
    const { stdout, stderr, exitCode } = await place.run(['whoami'], { environment })
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: `The API token's user at ${url}:\n\nid        1\nusername  admin\nroles     ROLE_ADMIN\n`,
      stderr: '',
      exitCode: 0,
    })
  })

  test('as a document, with whatever the service shows', async () => {
    const { url } = await service()
    await configured(url)
    const { stdout, exitCode } = await place.run(['whoami', '--json'], { environment })
    const document: unknown = JSON.parse(stdout)
    expect(exitCode).toBe(0)
    expect(faultsOf('whoami', document)).toEqual([])
    expect(document).toEqual({ schemaVersion: 1, url, user: { id: 1, username: 'admin', roles: ['ROLE_ADMIN'] } })
  })
})

describe.each(['token', 'whoami'])('%s ends with', (command) => {
  const endings = [
    {
      what: 'a refused token',
      environment: { TESTOPS_TOKEN: 'another-token' },
      exitCode: 69,
      code: 'UNAUTHENTICATED',
      says: / refused the API token, or /,
    },
    { what: 'no token', token: '', exitCode: 64, code: 'NOT_CONFIGURED', says: /^no `apiToken` is configured$/ },
    {
      what: 'a token that is not there',
      environment: {},
      exitCode: 64,
      code: 'SECRET_MISSING',
      says: /TESTOPS_TOKEN is not set$/,
    },
    {
      what: 'nothing that listens',
      isDown: true,
      exitCode: 69,
      code: 'UNREACHABLE',
      says: / refused the connection: nothing listens on /,
    },
  ]
  test.each(endings)(
    '$exitCode for $what',
    async ({ environment: env = environment, token, isDown = false, exitCode, code, says }) => {
      await configured(isDown ? `http://127.0.0.1:${await closedPort()}` : (await service()).url, token)
      const asText = await place.run([command], { environment: env })
      expect([asText.stdout, asText.exitCode]).toEqual(['', exitCode])
      expect(asText.stderr).toMatch(/^Error: /)
      const asJson = await place.run([command, '--json'], { environment: env })
      const { error } = JSON.parse(asJson.stdout) as { error: { code: string; message: string } }
      expect([asJson.stderr, asJson.exitCode, error.code]).toEqual(['', exitCode, code])
      expect(error.message).toMatch(says)
      expect(asText.stderr + asJson.stdout).not.toContain('another-token')
    },
  )
})
