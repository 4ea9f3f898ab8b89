import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { chooseOf } from '../../src/cli/chosen-deployment.ts'
import { AdminError } from '../../src/core/error.ts'

const found = ['prod', 'staging'].map((name) => ({
  name,
  what: `compose project \`${name}\``,
  settings: {},
  file: '/testops-admin.yaml',
}))

async function answered(answer: string): Promise<{ chosen: string; shown: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  let shown = ''
  output.on('data', (text: Buffer) => (shown += text.toString()))
  // a person answers what was asked, and a terminal stays open
  setImmediate(() => (answer === '' ? input.end() : input.write(answer)))
  const chosen = await chooseOf(found, new AbortController().signal, { input, output }).then(
    ({ name }) => name,
    (error: AdminError) => [error.code, error.message, ...error.suggestions].join(' | '),
  )
  return { chosen, shown }
}

test('the question numbers what was found', async () => {
  expect((await answered('2\n')).shown).toBe(
    'No configuration was found. Several deployments were found:\n  1  prod: compose project `prod`\n  2  ' +
      'staging: compose project `staging`\nWhich deployment (1 to 2)? ',
  )
})

test.each([
  ['1\n', 'prod'],
  [' 2 \n', 'staging'],
  ['staging\n', 'staging'],
  ['3\n', 'CONFIGURATION | `3` is not one of the deployments | -d prod | -d staging'],
  ['0\n', 'CONFIGURATION | `0` is not one of the deployments | -d prod | -d staging'],
  ['\n', 'CONFIGURATION | no deployment was chosen | -d prod | -d staging'],
  ['', 'CONFIGURATION | no deployment was chosen | -d prod | -d staging'],
])('the answer %j', async (answer, chosen) => expect((await answered(answer)).chosen).toBe(chosen))

test('an interruption is no answer', async () => {
  const signal = AbortSignal.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
  await expect(chooseOf(found, signal, { input: new PassThrough(), output: new PassThrough() })).rejects.toThrow(
    'Cancelled. Nothing was changed.',
  )
})
