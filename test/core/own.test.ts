import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { filesSource } from '../../src/adapters/settings-file/index.ts'
import { own } from '../../src/core/lookup.ts'
import { faultOfOptions } from '../../src/cli/repair/saved-plan.ts'
import { withoutSecrets } from '../../src/core/redaction/index.ts'
import { textAt } from '../../src/core/values.ts'
import { projectAt } from '../../src/platforms/compose/project.ts'
import { secretReader } from '../../src/runtime/configuration/secrets.ts'
import { parseAddress } from '../../src/runtime/endpoints/addresses.ts'

/** What every object has from its prototype. */
const inherited = ['constructor', 'valueOf', 'toString', 'hasOwnProperty', '__proto__']

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'testops-admin-own-'))
  onTestFinished(async () => rm(path, { recursive: true }))
  return path
}

test.each(inherited)('%s is no entry of an object, whoever asks for it', async (name) => {
  expect(own({ a: 1 }, name)).toBe(undefined)
  expect(own(JSON.parse(`{"${name}": 1}`) as Record<string, number>, name)).toBe(1)
  expect(own(null, name)).toBe(undefined)
  expect(textAt({ image: {} }, ['image', name])).toBe(null)
  expect(await filesSource().variable(join(await folder(), 'compose.yml'), name)).toBe(null)
  expect(() => parseAddress(`${name}://host/x`, { amqp: 5672 })).toThrow('must begin with amqp://')
  expect(withoutSecrets(`a &${name}; \\${name}`)).toBe(`a &${name}; \\${name}`)
  const reader = secretReader({ environment: {}, timeoutMs: 1000 })
  await expect(reader({ form: 'env', variable: name, at: 'here' })).rejects.toMatchObject({
    code: 'SECRET_MISSING',
    message: expect.stringContaining('is not set') as string,
  })
})

test.each([
  ['a byte that no path has', 'COMPOSE_FILE=\0\n'],
  ['a name that no file can have', `COMPOSE_FILE=${'x'.repeat(5000)}\n`],
])('a compose file with %s is not there', async (_, text) => {
  const path = await folder()
  await writeFile(join(path, '.env'), text)
  expect((await projectAt(path, {}))?.files).toHaveLength(1)
})

test('a saved plan of use-legacy-image names values files or a compose file', () => {
  const options = { build: null, revert: false }
  expect(faultOfOptions('use-legacy-image', { ...options, values: [], path: [] })).toBe('plan.options.values is empty')
  expect(faultOfOptions('use-legacy-image', options)).toBe('plan.options must have either `values` or `compose`')
  expect(
    faultOfOptions('use-legacy-image', {
      ...options,
      compose: '/srv/compose.yml',
      service: null,
      main: '/srv/compose.yml',
    }),
  ).toBe(null)
})
