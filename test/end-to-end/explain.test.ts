import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultsOf } from '../output/schemas.ts'
import { rows } from '../knowledge/explain/rows.ts'
import { freshPlace, program } from './program.ts'
import type { Place } from './program.ts'

let place: Place
beforeAll(async () => {
  place = await freshPlace()
})
afterAll(async () => place.remove())

const lock = 'Could not acquire change log lock.  Currently locked by app (10.0.0.7) since 11/21/26, 2:12 AM'

/** Types a line into a shell, in which `explain` is the command and $message the message. */
function typed(line: string, message = ''): { stdout: string; stderr: string; exitCode: number | null } {
  const script = `explain() { "$node" "$program" explain "$@"; }; ${line}`
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: place.directory,
    LANG: 'C.UTF-8',
    node: process.execPath,
    program,
    message,
  }
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script], {
    cwd: place.directory,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 26,
  })
  return { stdout, stderr, exitCode: status }
}

describe('a message', () => {
  test.each([
    ['in quotes', 'explain "$message"'],
    ['in bare words', 'explain $message'],
    ['behind --', 'explain -- "$message"'],
    ['piped', 'echo "$message" | explain -'],
    ['late', '(sleep 1; echo "$message") | explain -'],
    ['from a file', 'echo "$message" > message.txt; explain - < message.txt'],
    ['in a here-document', "explain - <<'END'\n$(echo `date`) \"$HOME\" 'x\nCould not acquire change log lock\nEND"],
    ['in UTF-16, as PowerShell writes it', 'echo "$message" | iconv -t UTF-16 > message.txt; explain - < message.txt'],
    [
      'behind 5 MB',
      '(yes "2026-11-22 10:00:00.000  INFO 7 --- [main] o.e.app.Service : done" | head -c 5000000; echo; echo ' +
        '"$message") | explain -',
    ],
  ])('%s', (_, line) => {
    const { stdout, stderr, exitCode } = typed(line, lock)
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout).toMatch(/^stuck-lock\n/)
  })

  test.each(rows)('as an operator pastes it: $said', ({ said, finds }) => {
    const { stdout, stderr, exitCode } = typed('echo "$message" | explain - --json', said)
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    const document = JSON.parse(stdout) as { entries: { id: string }[] }
    expect(faultsOf('explain', document)).toEqual([])
    expect(document.entries[0]?.id).toBe(finds)
  })
})

describe('nothing', () => {
  test.each([
    ['an empty pipe', ': | explain -'],
    ['blanks alone', 'echo "  " | explain -'],
    ['an empty argument', 'explain ""'],
    ['no input at all', 'explain - < /dev/null'],
  ])('%s', (_, line) => {
    expect(typed(line)).toEqual({
      stdout: 'The text is empty.\nList all entries: testops-admin explain\n',
      stderr: '',
      exitCode: 3,
    })
  })

  test('a pipe is not waited for where - does not name it: all is listed, and that is said', () => {
    const { stdout, stderr, exitCode } = typed('sleep 3 | explain')
    expect({ stderr, exitCode }).toEqual({
      stderr: 'Standard input is ignored. To read it, run: testops-admin explain -\n',
      exitCode: 0,
    })
    expect(stdout).toMatch(/^Checks, by their healthy state\n/)
  })

  test('an ordinary line', () => {
    const { stdout, exitCode } = typed('explain Started Application in 3 seconds --json')
    expect(exitCode).toBe(3)
    const document = JSON.parse(stdout) as { entries: unknown[]; nearest: string[] }
    expect(faultsOf('explain', document)).toEqual([])
    expect(document.entries).toEqual([])
    expect(document.nearest.length).toBeGreaterThan(0)
  })
})

test('what is too large for a message is for the scanner', () => {
  const { stderr, exitCode } = typed('head -c 50000001 /dev/zero | explain -')
  expect(exitCode).toBe(64)
  expect(stderr).toContain('standard input is larger than 50 MB')
  expect(stderr).toContain('testops-admin scan-logs FILE')
})
