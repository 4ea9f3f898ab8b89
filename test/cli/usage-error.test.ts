import { Args, Errors, Flags, Parser } from '@oclif/core'
import { describe, expect, test } from 'vitest'
import { inOwnWords } from '../../src/cli/failure.ts'
import { AdminError } from '../../src/core/error.ts'

describe("oclif's errors are wrong usage", () => {
  test.each([
    [
      'Parsing --timeout \n\tExpected an integer but received: x\nSee more help with --help',
      '--timeout: expected an integer but received: x',
    ],
    [
      'The following error occurred:\n  \u001b[2m--watch=true cannot also be provided when using ' +
        '--wait\u001b[22m\nSee more help with --help',
      '--watch cannot also be provided when using --wait',
    ],
    [
      'Expected --format=tabel to be one of: table, short\nSee more help with --help',
      'Expected --format=tabel to be one of: table, short',
    ],
  ])('%j', (message, expected) => {
    expect(inOwnWords(new Errors.CLIError(message), 'tool doctor')).toMatchObject({
      code: 'USAGE',
      message: expected,
      suggestions: ['tool doctor --help'],
    })
  })

  test('an argument that is missing, whatever flags there are', async () => {
    const args = { fault: Args.string({ description: 'FAULT, as `lab faults` lists it', required: true }) }
    const flags = { 'accept-risk': Flags.string({ multiple: true }) }
    const error: unknown = await Parser.parse([], { args, flags }).catch((thrown: unknown) => thrown)
    expect(inOwnWords(error, 'tool break')).toMatchObject({
      code: 'USAGE',
      message: '`tool break` needs FAULT, as `lab faults` lists it',
      suggestions: ['tool break --help'],
    })
  })

  test.each([
    [['--onyl'], 'unknown flag for `tool doctor`: --onyl', ['tool doctor --only', 'tool doctor --help']],
    [['--onyl', '-z'], 'unknown flags for `tool doctor`: --onyl, -z', ['tool doctor --only', 'tool doctor --help']],
  ])('unknown flags: %j', (flags, message, suggestions) => {
    const error = Object.assign(new Errors.CLIError('Nonexistent flag'), {
      flags,
      parse: { input: { flags: { only: {}, skip: {} } } },
    })
    expect(inOwnWords(error, 'tool doctor')).toMatchObject({ message, suggestions })
  })
})

test.each<[line: string[], args: Record<string, ReturnType<typeof Args.string>>, meant: string[]]>([
  [['prod'], {}, ['tool doctor -d prod']],
  [['prod', 'b'], {}, []],
  [['a', 'b'], { name: Args.string() }, []],
  [['prod', '--all'], {}, []],
  [['prod', '-d', 'other'], {}, []],
])('an argument too many is the name of a deployment only if it can be: %j', async (line, args, meant) => {
  const flags = { deployment: Flags.string({ char: 'd' }), all: Flags.boolean() }
  const error: unknown = await Parser.parse(line, { args, flags, strict: true }).catch((thrown: unknown) => thrown)
  expect(inOwnWords(error, 'tool doctor')).toMatchObject({ suggestions: [...meant, 'tool doctor --help'] })
})

test('the name of a deployment and the nearest flag keep the configuration that was typed', async () => {
  const flags = { deployment: Flags.string({ char: 'd' }), config: Flags.string(), wait: Flags.boolean() }
  const suggested = async (...words: string[]): Promise<unknown> => {
    const thrown: unknown = await Parser.parse(words, { flags, strict: true }).catch((error: unknown) => error)
    return (inOwnWords(thrown, 'tool doctor', words) as AdminError).suggestions[0]
  }
  expect(await suggested('b', '--config', 'x')).toBe('tool doctor --config x -d b')
  expect(await suggested('-d', 'a', '--config', 'x', '--wiat')).toBe('tool doctor -d a --config x --wait')
})

test('a suggestion that begins with a flag is completed to what is typed', () => {
  const cause = new Error('why')
  const error = new AdminError('USAGE', 'no deployment `prd`', ['-d prod', '--only broker', 'tool checks'], { cause })
  const completed = inOwnWords(error, 'tool doctor')
  expect(completed).toBeInstanceOf(AdminError)
  expect(completed).toMatchObject({
    code: 'USAGE',
    message: 'no deployment `prd`',
    suggestions: ['tool doctor -d prod', 'tool doctor --only broker', 'tool checks'],
    cause,
  })
})

test.each<[typed: string[], suggestion: string, completed: string]>([
  [['--only', 'x', '-d', 'prod'], '--only broker', 'tool doctor -d prod --only broker'],
  [['-d', 'prd', '--config', 'my file.yaml'], '-d prod', "tool doctor --config 'my file.yaml' -d prod"],
  [['--deployment=prd', '--config=a.yaml'], '--deployment prod', 'tool doctor --config a.yaml --deployment prod'],
  [['-d', 'a', '--config', 'x'], '--config y.yaml', 'tool doctor -d a --config y.yaml'],
  [['-d', 'a', '-d', 'b'], '--skip x', 'tool doctor -d a -d b --skip x'],
  [['--', '-d', 'a'], '--skip x', 'tool doctor --skip x'],
  [['-da', '--config=x'], '--skip x', 'tool doctor -d a --config x --skip x'],
  [['-d=a'], '--skip x', 'tool doctor -d a --skip x'],
  [['-d', 'a', '--config', 'x'], 'testops-admin checks', 'testops-admin checks -d a --config x'],
  [['-d', 'a', '-d', 'b', '--config', 'x'], 'testops-admin checks', 'testops-admin checks --config x'],
  [['--config', 'a.yaml'], 'testops-admin checks', 'testops-admin checks --config a.yaml'],
  [['--config', 'a.yaml'], 'testops-admin lab up', 'testops-admin lab up'],
  [['--config'], '--skip x', 'tool doctor --skip x'],
  [['--all', '--config', 'x'], '--skip x', 'tool doctor --all --config x --skip x'],
  [['--all'], 'testops-admin checks', 'testops-admin checks'],
  [['--', '--all'], '--skip x', 'tool doctor --skip x'],
])('what was typed to choose a deployment is kept: %j and %s', (words, suggestion, completed) => {
  const error = new AdminError('USAGE', 'wrong', [suggestion])
  expect(inOwnWords(error, 'tool doctor', words)).toMatchObject({ suggestions: [completed] })
})

test.each<[typed: string[], suggestion: string, completed: string]>([
  [['-d', 'lab', 'X=y'], 'testops-admin set-env X=@-   # reads', 'testops-admin set-env -d lab X=@-   # reads'],
  [['-d', 'a', '--config', 'c'], 'testops-admin set-env X=VALUE', 'testops-admin set-env -d a --config c X=VALUE'],
  [['X=y'], 'testops-admin set-env X=VALUE', 'testops-admin set-env X=VALUE'],
  [['-d', 'a', '--values=v.yaml'], 'testops-admin set-env X=1', 'testops-admin set-env -d a --values v.yaml X=1'],
  [['-d', 'lab'], '--vendor-prefix X', 'testops-admin set-env -d lab --vendor-prefix X'],
  [['-d', 'lab'], 'testops-admin set-env --help', 'testops-admin set-env --help'],
  [['-d', 'lab'], 'testops-admin set-env X=@FILE -d lab', 'testops-admin set-env X=@FILE -d lab'],
  [['-d', 'lab'], 'testops-admin service restart', 'testops-admin service restart'],
])('a setting is set where it was meant to be: %j and %s', (words, suggestion, completed) => {
  const error = new AdminError('USAGE', 'wrong', [suggestion])
  expect(inOwnWords(error, 'testops-admin set-env', words)).toMatchObject({ suggestions: [completed] })
})

test('`--all` chooses deployments for doctor alone', () => {
  const error = new AdminError('USAGE', 'wrong', ['--restart'])
  expect(inOwnWords(error, 'tool flush-sessions', ['--all'])).toMatchObject({
    suggestions: ['tool flush-sessions --restart'],
  })
})

test.each([new AdminError('BUSY', 'busy'), new Errors.ExitError(0), new TypeError('x'), 'text'])(
  'anything else stays what it is: %s',
  (thrown) => {
    expect(inOwnWords(thrown, 'tool')).toBe(thrown)
  },
)
