import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultsOf } from '../output/schemas.ts'
import { freshPlace, program } from './program.ts'
import type { Place } from './program.ts'

let place: Place
beforeAll(async () => {
  place = await freshPlace()
})
afterAll(async () => place.remove())

describe('what works without any deployment', () => {
  test.each([
    ['--version', /^testops-admin\/\d+\.\d+\.\d+ \S+ node-v\d+/],
    ['--help', /COMMANDS\n(.*\n)*  doctor  +Find what is wrong/],
    ['', /^testops-admin finds what is wrong .*\n\nBegin with:\n  testops-admin doctor /s],
    ['help', /COMMANDS\n/],
    ['help doctor', /--fail-on=<option>/],
    ['lab', /lab break +Break the practice deployment/],
    ['doctor -h', /--fail-on=<option>/],
    ['checks', /^database\/reachable/],
    ['explain', /database\/changelog-lock/],
    ['explain database/changelog-lock', /^database\/changelog-lock\n/],
    ['explain broker', /broker\/queues-durable/],
    ['explain Could not acquire change log lock', /^stuck-lock\n/],
    ['explain Не удается установить соединение', /^cannot-connect\n/],
  ])('%s', async (line, expected) => {
    const { stdout, stderr, exitCode } = await place.run(words(line))
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout).toMatch(expected)
  })

  test.each(['doctor', 'checks', 'explain', 'check-integration', 'lint-results', 'mcp', 'scan-logs', 'lab drill'])(
    '%s --help',
    async (command) => {
      const { stdout } = await place.run([...words(command), '--help'])
      await expect(stdout).toMatchFileSnapshot(`golden/help-${command.replace(' ', '-')}.txt`)
    },
  )

  test.each([
    ['checks', 'checks --json', 0],
    ['explain', 'explain service/cpu-level --json', 0],
    ['explain', 'explain stuck-lock --json', 0],
    ['explain', 'explain service/cpu-levle --json', 3],
    ['explain', 'explain stuck-lok --json', 3],
    ['lab-faults', 'lab faults --json', 0],
    ['lab-status', 'lab status --json', 0],
    ['lab-down', 'lab down --json', 0],
  ])('%s: %s fits its schema', async (schema, line, code) => {
    const { stdout, stderr, exitCode } = await place.run(words(line))
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: code })
    expect(faultsOf(schema, JSON.parse(stdout))).toEqual([])
  })

  test.each<[string, Record<string, string>, RegExp]>([
    ['--help', { LANG: 'ru_RU.UTF-8' }, /КОМАНДЫ\n(.*\n)* {2}doctor +Найти, что не так с установкой\n/],
    ['--help --lang ru', {}, /^Находит неполадки .*\n\nВЕРСИЯ\n/],
    ['--lang ru', {}, /^testops-admin находит .*\n\nС чего начать:\n/s],
    ['lab --lang=ru', {}, /ИСПОЛЬЗОВАНИЕ\n.*\n\nКОМАНДЫ\n +lab break +Сломать учебную установку\n/],
    ['explain lock-refused --lang ru', {}, /\nПочему так бывает\n/],
    ['explain lock-refused', { LC_ALL: 'ru_RU.UTF-8' }, /\nПочему так бывает\n/],
    // English wins where it is asked for, and where Russian cannot be shown
    ['explain lock-refused --lang en', { LC_ALL: 'ru_RU.UTF-8' }, /\nWhy it happens\n/],
    ['explain lock-refused', { LANG: 'ru_RU.UTF-8', LC_CTYPE: 'C' }, /\nWhy it happens\n/],
    ['--help --lang en', { LANG: 'ru_RU.UTF-8' }, /COMMANDS\n/],
    // the page of a command
    ['doctor --help --lang ru', {}, /--fail-on=<option>/],
  ])('%s with %j', async (line, environment, expected) => {
    const { stdout, stderr, exitCode } = await place.run(words(line), { environment })
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout).toMatch(expected)
  })

  test('JSON is the same in every language', async () => {
    const [english, russian] = await Promise.all(
      ['en', 'ru'].map(async (lang) => place.run(['explain', 'stuck-lock', '--json', '--lang', lang])),
    )
    expect(russian?.stdout).toBe(english?.stdout)
    expect(russian?.stdout).toContain('Liquibase')
  })

  test.each(['doctor --lang xx', 'explain --lang xx', '--help --lang xx', '--lang xx'])(
    '%s names the languages',
    async (line) => {
      const { stderr, exitCode } = await place.run(words(line))
      expect(exitCode).toBe(64)
      expect(stderr).toMatch(/^Error: Expected --lang=xx to be one of: en, ru\n/)
    },
  )

  test('DEBUG, under which libraries print passwords, shows nothing', async () => {
    const { stderr } = await place.run(['checks'], { environment: { DEBUG: '*' } })
    expect(stderr).toBe('')
  })

  test('nothing is lost where the reader is slow and a pipe holds less', async () => {
    const { stdout } = await place.run(['explain', '--json'])
    // what is in the pipe already leaves too little room
    const script = '(head -c 60000 /dev/zero; "$0" "$1" explain --json) | (sleep 2; tail -c +60001)'
    const read = execFileSync('sh', ['-c', script, process.execPath, program], {
      env: { HOME: place.directory, PATH: process.env.PATH },
    })
    expect(read.toString()).toBe(stdout)
  })

  test('every check has a text, and its title', async () => {
    const { checks } = JSON.parse((await place.run(['checks', '--json'])).stdout) as {
      checks: { id: string; title: string }[]
    }
    const { entries } = JSON.parse((await place.run(['explain', '--json'])).stdout) as {
      entries: { id: string; kind: string; title: string }[]
    }
    const told = entries.filter(({ kind }) => kind === 'check').map(({ id, title }) => ({ id, title }))
    expect(told).toEqual(checks.map(({ id, title }) => ({ id, title })))
  })
})

describe('wrong usage: one clear line, what to type next, and 64', () => {
  test.each<[line: string, message: string, suggestion: string]>([
    ['docter', '`docter` is not a command of testops-admin', 'testops-admin doctor'],
    ['zebra --help', '`zebra` is not a command of testops-admin', 'testops-admin --help'],
    ['-d prod doctor', 'put flags after the command: `testops-admin COMMAND -d`', 'testops-admin --help'],
    ['doctor --onyl broker', 'unknown flag for `testops-admin doctor`: --onyl', 'testops-admin doctor --only'],
    ['doctor broker', '`testops-admin doctor` takes no argument: broker', 'testops-admin doctor --help'],
    [
      'doctor --format tabel',
      'Expected --format=tabel to be one of: table, short, json',
      'testops-admin doctor --help',
    ],
    ['doctor --timeout soon', '--timeout: expected an integer but received: soon', 'testops-admin doctor --help'],
    [
      'doctor --timeout 0',
      '--timeout: expected an integer greater than or equal to 1 but received: 0',
      'testops-admin doctor --help',
    ],
    [
      'doctor --only broker/queue-durable',
      'no check `broker/queue-durable`; did you mean `broker/queues-durable`?',
      'testops-admin doctor --only broker/queues-durable',
    ],
    ['doctor --skip databse', 'no check `databse`; did you mean `database`?', 'testops-admin doctor --skip database'],
    ['doctor --only broker --skip broker', '--only and --skip leave no check to run', 'testops-admin checks'],
    ['doctor --wait --watch', '--watch cannot also be provided when using --wait', 'testops-admin doctor --help'],
    ['lab pu', '`lab pu` is not a command of testops-admin', 'testops-admin lab up'],
    ['doctor --only foo', 'no check `foo`; the closest known names are ', 'testops-admin checks'],
    ['lab break stuck-lok', 'no fault `stuck-lok`; did you mean `stuck-lock`?', 'testops-admin lab break stuck-lock'],
    ['lab mend stuck-lok', 'no fault `stuck-lok`; did you mean `stuck-lock`?', 'testops-admin lab mend stuck-lock'],
    ['lab mend nope', 'no fault `nope`; the closest known names are ', 'testops-admin lab faults'],
    [
      'lab break',
      '`testops-admin lab break` needs FAULT or FAULT/VARIANT, one or more',
      'testops-admin lab break --help',
    ],
    ['checks extra', '`testops-admin checks` takes no argument: extra', 'testops-admin checks --help'],
  ])('%s', async (line, message, suggestion) => {
    const [plain, json] = await Promise.all([place.run(words(line)), place.run([...words(line), '--json'])])
    expect({ stdout: plain.stdout, exitCode: plain.exitCode }).toEqual({ stdout: '', exitCode: 64 })
    expect(plain.stderr.replaceAll(/\s+/g, ' ')).toContain(`Error: ${message}`)
    expect(plain.stderr).toContain(`\n  ${suggestion}\n`)
    expect({ stderr: json.stderr, exitCode: json.exitCode }).toEqual({ stderr: '', exitCode: 64 })
    const document = JSON.parse(json.stdout) as { error: { code: string; message: string; suggestions: string[] } }
    expect(faultsOf('error', document)).toEqual([])
    expect(document.error).toMatchObject({
      code: 'USAGE',
      suggestions: expect.arrayContaining([suggestion]) as string[],
    })
    expect(document.error.message).toContain(message)
  })

  test('a watch is no one document', async () => {
    const { stdout, exitCode } = await place.run(['doctor', '--watch', '--json'])
    expect(exitCode).toBe(64)
    expect(faultsOf('error', JSON.parse(stdout))).toEqual([])
  })

  test('JSON can be asked for by the environment', async () => {
    const { stdout, exitCode } = await place.run(['zebra'], { environment: { TESTOPS_ADMIN_JSON: '1' } })
    expect(exitCode).toBe(64)
    expect(faultsOf('error', JSON.parse(stdout))).toEqual([])
  })
})

test('who stops reading does no harm', async () => {
  for (const line of ['checks', 'checks --json', 'explain', 'doctor --help', 'zebra --json']) {
    const { stderr, exitCode } = await place.run(words(line), { meanwhile: (child) => child.stdout?.destroy() })
    expect({ line, stderr, exitCode }).toEqual({ line, stderr: '', exitCode: line.startsWith('zebra') ? 64 : 0 })
  }
})

test('no colours where no terminal is, whatever else is said', async () => {
  for (const line of ['checks', 'explain api/token', 'doctor --help', 'zebra']) {
    const { stdout, stderr } = await place.run(words(line), { environment: { NO_COLOR: '1', TERM: 'xterm-256color' } })
    expect(stdout + stderr).not.toContain('\u001b')
  }
})

function words(line: string): string[] {
  return line.split(' ').filter(Boolean)
}
