import { execFile } from 'node:child_process'
import { access, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asPath, command, nested, sentence, typed, withFilled } from '../../src/core/shell-command.ts'
import { sql, sqlName, sqlNameInQuotes } from '../../src/core/sql-text.ts'
import { onDeployment } from '../../src/core/typed.ts'
import { fillCommand } from '../../src/engine/remedy.ts'
import { hostile, passable } from '../support/hostile-names.ts'

const run = promisify(execFile)

let folder: string

/** A program that an attack would run. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoted-'))
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'touch'), `#!/bin/sh\n: > ${join(folder, 'canary')}\n`)
  await chmod(join(folder, 'bin', 'touch'), 0o755)
})

afterAll(async () => rm(folder, { recursive: true, force: true }))

/** What a shell that is given these lines calls, line by line. */
async function called(shell: readonly string[], lines: readonly string[]): Promise<string[][][]> {
  await rm(join(folder, 'calls'), { force: true })
  const script = join(folder, 'pasted')
  // notes what it was called with; a function, since thousands of programs would take most of the time
  const probe = `probe() { printf '%s\\0' "$@" call-ends >> ${join(folder, 'calls')}; }`
  // a shell ends where a name is missing, so that each is pasted to one of its own
  await writeFile(script, [probe, 'probe first', ...lines.map((line) => `(\n${line}\n)\nprobe END`)].join('\n'))
  const [program, ...words] = shell
  await run(program!, ['-n', script])
  const { stderr } = await run(program!, [...words, script], {
    cwd: folder,
    env: { PATH: join(folder, 'bin'), HOME: folder },
  }).catch((error: { stderr: string }) => error)
  expect(stderr).not.toMatch(/syntax error|unexpected/)
  await expect(access(join(folder, 'canary'))).rejects.toThrow()
  const calls = (await readFile(join(folder, 'calls'), 'utf8'))
    .split('call-ends\0')
    .slice(1, -1)
    .map((call) => call.split('\0').slice(0, -1))
  const pasted: string[][][] = [[]]
  for (const call of calls)
    if (call[0] === 'END') pasted.push([])
    else pasted.at(-1)!.push(call)
  return pasted.slice(0, -1)
}

/** A line, and the calls that it is. */
interface Pasted {
  line: string
  calls: string[][]
}

const shells: string[][] = [
  ['/bin/sh'],
  ['/bin/bash', '--norc'],
  // as where it is typed: `!` means earlier commands
  ['/bin/bash', '--norc', '-o', 'history', '-H'],
]

describe.each(shells)('pasted into %s %s', (...shell) => {
  async function assertPasted(all: readonly Pasted[]): Promise<void> {
    const calls = await called(
      shell,
      all.map(({ line }) => line),
    )
    expect(all.map(({ line }, index) => ({ line, calls: calls[index] }))).toEqual(all)
  }
  const ifPassable = (name: string, words: string[]): string[][] => (passable(name) ? [words] : [])

  test('a name is one word', async () => {
    await assertPasted(
      hostile.flatMap((name) => [
        { line: command`probe -- ${name}   # all of it`, calls: ifPassable(name, ['--', name]) },
        { line: command`probe --flag=${name} last`, calls: ifPassable(name, [`--flag=${name}`, 'last']) },
        { line: command`probe ${[name, name]}`, calls: name.startsWith('-') ? [] : ifPassable(name, [name, name]) },
        { line: typed(['probe', name, 'last']), calls: ifPassable(name, [name, 'last']) },
        { line: command`probe first   # of ${name}`, calls: [['first']] },
        // elsewhere it would be a flag
        { line: command`probe ${name}`, calls: name.startsWith('-') ? [] : ifPassable(name, [name]) },
        { line: command`probe ${asPath(name)}`, calls: ifPassable(name, [asPath(name)]) },
      ]),
    )
  }, 60_000)

  test('a sentence does nothing', async () => {
    await assertPasted(
      hostile.flatMap((name) => [
        { line: sentence`see on ${name} that nothing runs`, calls: [] },
        // apostrophes
        { line: sentence`see that the service's log of ${name} isn't there`, calls: [] },
      ]),
    )
  }, 60_000)

  test('what is filled in later is quoted, too', async () => {
    await assertPasted(
      hostile.map((name) => {
        const deployment = {
          name,
          platform: 'host' as const,
          vendor: { prefix: 'T', package: 't' },
          timeZone: null,
          config: '/etc/it; touch x',
        }
        const flag = name.startsWith('-') ? [`--deployment=${name}`] : ['-d', name]
        return {
          line: fillCommand(command`probe ${'the queue {deployment}'} {deployment} -d {deployment}`, deployment, null),
          calls: ifPassable(name, ['the queue {deployment}', name, ...flag, '--config', '/etc/it; touch x']),
        }
      }),
    )
  }, 60_000)

  test('SQL is quoted within the shell', async () => {
    await assertPasted(
      hostile.map((name) => {
        const statement = sql`SELECT ${name} FROM ${sqlNameInQuotes(name)}`
        expect(statement).toBe(`SELECT '${name.replaceAll("'", "''")}' FROM "${name.replaceAll('"', '""')}"`)
        return { line: command`probe -c ${statement}`, calls: ifPassable(statement, ['-c', statement]) }
      }),
    )
  }, 60_000)
})

test('the shell with a history would have expanded it', async () => {
  expect(await called(shells[2]!, ['probe "!!"'])).not.toEqual([[['!!']]])
})

test('a plain word stays as it is', () => {
  expect(command`kubectl -n ${'testops'} logs ${'deployment/a_b.c'} ${['--tail=200', 'x@y:1']}`).toBe(
    'kubectl -n testops logs deployment/a_b.c "${TYPE_BY_HAND:?this name cannot be pasted: type it yourself}" x@y:1',
  )
  expect(typed(['kubectl', 'scale', '--replicas=0'])).toBe('kubectl scale --replicas=0')
  expect(onDeployment('prod', '/etc/a b.yaml')).toBe("-d prod --config '/etc/a b.yaml'")
  expect(sql`ALTER TABLE ${sqlName('public')}.t`).toBe('ALTER TABLE public.t')
})

test('what cannot be seen is written in figures, and nothing of it reaches the screen', () => {
  for (const name of hostile) expect(command`probe -- ${name}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
  expect(command`probe ${'a\n\u001b[31mb'}`).toBe(`probe "$(printf 'a\\012\\033\\13331mb')"`)
})

// `/usr/sbin/rabbitmqctl` of Debian: `su rabbitmq -s /bin/sh -c "rabbitmqctl \"$arg\" …"`
test('what a second shell would take for more is not pasted to it', () => {
  expect(command`rabbitmqctl -p ${'$(touch x)'} list_queues`).toBe(
    'rabbitmqctl -p "${TYPE_BY_HAND:?this name cannot be pasted: type it yourself}" list_queues',
  )
  expect(typed(['sudo', '-n', 'rabbitmqctl', '-p', 'a`b`'])).toContain('TYPE_BY_HAND')
  expect(command`rabbitmqctl list_queues | grep ${'$(touch x)'}`).toBe("rabbitmqctl list_queues | grep '$(touch x)'")
  expect(command`rabbitmqctl -p ${"it's a; b"} list_queues`).toBe('rabbitmqctl -p "it\'s a; b" list_queues')
})

test('a placeholder within a name is none', () => {
  expect(withFilled(command`grep ${'{file}'} {file}`, /\{file\}/, () => typed(['/a b']))).toBe("grep '{''file}' '/a b'")
})

test('a plain string is no piece of a command', () => {
  const inner = command`ls ${'a b'}`
  // @ts-expect-error it would be quoted again
  expect(command`sudo ${inner}`).toBe(`sudo "ls 'a b'"`)
  expect(command`sudo ${nested(inner)}`).toBe("sudo ls 'a b'")
})
