import { describe, expect, test } from 'vitest'
import { planned, tools, typedCommand } from '../../../src/cli/mcp/tools.ts'
import type { ToolArguments } from '../../../src/cli/mcp/tools.ts'
import { commands } from '../../../src/commands/index.ts'
import { repairs } from '../../../src/repairs/index.ts'

const callOf = (name: string, given: ToolArguments): ReturnType<(typeof tools)[number]['call']> =>
  tools.find((it) => it.name === name)!.call(given)

describe('the plan of', () => {
  test('every repair can be asked for', () => {
    // set-env-values is set-env with --values
    expect([...Object.keys(planned), 'set-env-values'].sort()).toEqual(Object.keys(repairs).sort())
  })

  test.each(Object.entries(planned))(
    '%s takes flags that its command has',
    async (repair, taken: readonly string[]) => {
      const id = repair.startsWith('service-') ? repair.replace('-', ':') : repair
      const { default: command } = await commands[id]!()
      const known = Object.keys(command.flags).map((name) => name.replace(/^no-/, ''))
      expect(taken.filter((name) => name !== 'setting' && !known.includes(name))).toEqual([])
      expect(known).toContain('dry-run')
    },
  )

  test('no other repair takes arguments of this one', () => {
    const { properties } = tools.find((it) => it.name === 'plan')!
    const taken = new Set<string>(Object.values(planned).flat())
    expect(
      Object.keys(properties)
        .filter((it) => !['repair', 'deployment'].includes(it))
        .sort(),
    ).toEqual([...taken].sort())
    for (const [name, { description }] of Object.entries(properties) as [string, { description: string }][]) {
      if (!taken.has(name)) continue
      const said = Object.entries(planned).flatMap(([id, all]) =>
        (all as readonly string[]).includes(name) ? [id] : [],
      )
      expect(description.split(':')[0]!.split(', ')).toEqual(said)
    }
  })
})

describe('a call runs', () => {
  test.each<[string, ToolArguments, readonly string[]]>([
    [
      'doctor',
      { only: ['broker', '--fix'], skip: ['api/latency'] },
      ['doctor', '--only=broker', '--only=--fix', '--skip=api/latency'],
    ],
    ['explain', {}, ['explain']],
    ['explain', { query: '--json' }, ['explain', '-']],
    ['scan_logs', { since: '2h', 'time-zone': 'UTC' }, ['scan-logs', '--since=2h', '--time-zone=UTC']],
    ['scan_logs', { files: ['/logs/a.log'] }, ['scan-logs', '/logs/a.log']],
    ['preflight', { to: '527u01', 'backup-taken': '1h' }, ['preflight', '--to=527u01', '--backup-taken=1h']],
    ['history', {}, ['history']],
    ['plan', { repair: 'service-restart' }, ['service', 'restart']],
    [
      'plan',
      { repair: 'unlock-changelog', restart: false, schema: '-x' },
      ['unlock-changelog', '--no-restart', '--schema=-x'],
    ],
    ['plan', { repair: 'unlock-changelog', restart: true }, ['unlock-changelog']],
    ['plan', { repair: 'flush-sessions', stale: true, all: false }, ['flush-sessions', '--stale']],
    [
      'plan',
      { repair: 'migrate-trees', project: [1, 2], concurrency: 8 },
      ['migrate-trees', '--project=1', '--project=2', '--concurrency=8'],
    ],
    [
      'plan',
      { repair: 'set-env', setting: ['A=b c', 'B-', 'C=-'], 'durable-queues': 'true' },
      ['set-env', 'A=b c', 'B-', 'C=-', '--durable-queues=true'],
    ],
  ])('%s %j', (name, given, words) => {
    const { words: run, dry = [] } = callOf(name, given)
    expect([run, dry]).toEqual([words, name === 'plan' ? ['--dry-run'] : []])
  })

  test.each<[string, ToolArguments, string]>([
    ['plan', { repair: 'service-stop', all: true }, 'service-stop does not take `all`; it takes only `deployment`'],
    ['plan', { repair: 'reset-queues', stale: true, apply: true }, 'reset-queues does not take `stale`, `apply`; it'],
    ['plan', { repair: 'set-env', setting: ['--values=x'] }, 'invalid setting `--values=x`: write NAME=VALUE, or'],
    ['plan', { repair: 'set-env', setting: ['A'] }, 'invalid setting `A`'],
    ['plan', { repair: 'set-env', setting: ['A=@/etc/shadow'] }, 'the value of A is read from a file, which only a'],
    ['plan', { repair: 'set-env', setting: ['A=@-'] }, 'the value of A is read from a file'],
    ['scan_logs', { files: ['/a'], deployment: 'prod' }, 'give `files` or `deployment`, not both'],
  ])('nothing for %s %j', (name, given, message) => {
    expect(() => callOf(name, given)).toThrow(message)
  })

  test('an explanation on standard input, and names it as a person types it', () => {
    const call = callOf('explain', { query: "it's broken" })
    expect([call.input, typedCommand(call, {})]).toEqual(["it's broken", `testops-admin explain "it's broken"`])
    const long = callOf('explain', { query: 'line\nline' })
    expect(typedCommand(long, { deployment: 'prod' })).toBe('testops-admin explain -')
  })
})

test.each([
  [{ deployment: 'prod' }, 'testops-admin service stop -d prod'],
  [{ deployment: 'prod', config: 'my file.yaml' }, "testops-admin service stop -d prod --config 'my file.yaml'"],
  [{ config: 'a.yaml' }, 'testops-admin service stop --config a.yaml'],
  [{}, 'testops-admin service stop'],
])('a person types a plan of %j as a command', (on, command) => {
  expect(typedCommand(callOf('plan', { repair: 'service-stop' }), on)).toBe(command)
})
