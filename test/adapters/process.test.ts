import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { endOf, isOnTerminal, orFail, runProgram } from '../../src/adapters/process.ts'
import { AdminError } from '../../src/core/error.ts'
import { typed } from '../../src/core/typed.ts'
import { processesWith } from '../support/processes.ts'
import { failureOf } from './failure-of.ts'

const node = (script: string): [string, ...string[]] => [process.execPath, '-e', script]
const timeoutMs = 10_000

describe('runProgram', () => {
  test('gives what the program said, whatever its exit code', async () => {
    const result = await runProgram(node('console.log("out"); console.error("err"); process.exit(3)'), { timeoutMs })
    expect(result).toEqual({ exitCode: 3, signal: null, stdout: 'out\n', stderr: 'err\n', truncated: false })
    expect(endOf(result)).toBe('exited with 3: err')
  })

  test('hands over input, environment and folder', async () => {
    const script =
      'process.stdin.on("data", (d) => ' +
      'process.stdout.write(`${d}|${process.env.GIVEN}|${process.env.HOME}|${process.cwd()}`))'
    const { stdout } = await runProgram(node(script), {
      timeoutMs,
      input: 'in',
      environment: { GIVEN: 'yes', HOME: undefined },
      directory: '/',
    })
    expect(stdout).toBe('in|yes|undefined|/')
  })

  test('survives a program that does not read its input', async () => {
    const result = await runProgram(node('process.exit(0)'), { timeoutMs, input: 'x'.repeat(1_000_000) })
    expect(result.exitCode).toBe(0)
  })

  test('names the signal that ended it', async () => {
    const result = await runProgram(node('process.kill(process.pid, "SIGKILL")'), { timeoutMs })
    expect(endOf(result)).toBe('was ended by SIGKILL')
  })

  test('stops what takes too long, also when it ignores SIGTERM', async () => {
    const started = performance.now()
    const command = node('process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)')
    expect(await failureOf(runProgram(command, { timeoutMs: 300 }))).toBe(
      `TIMED_OUT \`${typed(command)}\` did not finish within 0.3 s`,
    )
    // before the deadline of a check, which is a second later, so that this is what is told
    expect(performance.now() - started).toBeLessThan(300 + 1000)
  })

  test.each([
    { what: 'what it started', terminal: false, script: 'sleep 41.5; echo late', left: 0 },
    { what: 'what it started and left', terminal: false, script: 'sleep 41.5 & exec sleep 41.5', left: 0 },
    { what: 'what ignores SIGTERM', terminal: false, script: "trap '' TERM; sleep 41.5; sleep 41.5", left: 0 },
    {
      what: 'only itself where it has the terminal',
      terminal: true,
      script: 'sleep 41.5; echo late',
      left: isOnTerminal() ? 1 : 0,
    },
  ])('stops in time, with $what', async ({ script, terminal, left }) => {
    const mark = `TEST_${randomBytes(8).toString('hex')}`
    const started = performance.now()
    const running = runProgram(['sh', '-c', script], { timeoutMs: 200, terminal, environment: { [mark]: 'here' } })
    expect(await failureOf(running)).toBe(`TIMED_OUT \`${typed(['sh', '-c', script])}\` did not finish within 0.2 s`)
    expect(performance.now() - started).toBeLessThan(3000)
    await sleep(50)
    const rest = processesWith([mark])
    expect(rest.length).toBe(left)
    for (const { pid } of rest) process.kill(pid, 'SIGKILL')
  })

  test('does not wait for what it left running with its output', async () => {
    const started = performance.now()
    const result = await runProgram(['sh', '-c', 'sleep 3 & echo started'], { timeoutMs })
    expect(result).toMatchObject({ exitCode: 0, stdout: 'started\n' })
    expect(performance.now() - started).toBeLessThan(2000)
  })

  test('keeps the newest of a long output', async () => {
    const script = 'for (let i = 0; i < 50000; i++) console.log("line " + i)'
    const result = await runProgram(node(script), { timeoutMs, maxBytes: 1000, keepNewest: true })
    expect(result.truncated).toBe(true)
    expect(result.stdout.length).toBe(1000)
    expect(result.stdout.endsWith('line 49999\n')).toBe(true)
  })

  const failures = [
    {
      what: 'a missing program',
      command: ['/no/such/program', 'x'],
      error: 'UNAVAILABLE /no/such/program is not installed on this machine',
    },
    {
      what: 'a file that is no program',
      command: ['/etc/passwd'],
      error: 'UNAVAILABLE this user may not execute /etc/passwd',
    },
  ] satisfies { what: string; command: [string, ...string[]]; error: string | null }[]
  test.each(failures)('$what', async ({ command, error }) => {
    expect(await failureOf(runProgram(command, { timeoutMs }))).toBe(error)
  })

  test('refuses more than maxBytes', async () => {
    const command = node('process.stdout.write("x".repeat(100000)); setInterval(() => {}, 1000)')
    expect(await failureOf(runProgram(command, { timeoutMs, maxBytes: 1000 }))).toBe(
      `UNEXPECTED_ANSWER \`${typed(command)}\` wrote more than 1000 bytes`,
    )
  })

  test('can be interrupted', async () => {
    const controller = new AbortController()
    const running = runProgram(node('setInterval(() => {}, 1000)'), { timeoutMs, signal: controller.signal })
    setTimeout(() => controller.abort(), 50)
    expect(await failureOf(running)).toMatch(/^INTERRUPTED /)
  })

  test('orFail tells what the program said last', async () => {
    const command = node('console.error("first"); console.error("the reason"); process.exit(2)')
    const result = await runProgram(command, { timeoutMs })
    expect(() => orFail(command, result)).toThrow(
      new AdminError('FAILED', `\`${typed(command)}\` exited with 2: the reason`, [typed(command)]),
    )
    expect(() => orFail(command, { ...result, exitCode: 0 })).not.toThrow()
  })

  test('gives it nothing of its own environment where it is isolated', async () => {
    const script = 'process.stdout.write(Object.keys(process.env).join())'
    const { stdout } = await runProgram(node(script), {
      timeoutMs,
      isolated: true,
      environment: { GIVEN: 'yes', OTHER: undefined },
    })
    expect(stdout).toBe('GIVEN')
  })

  test('runs it as another account, which only root may', async () => {
    const [uid, gid] = process.getuid!() === 0 ? [65_534, 65_533] : [process.getuid!(), process.getgid!()]
    const script = 'process.stdout.write(`${process.getuid()}:${process.getgid()}`)'
    const { stdout } = await runProgram(node(script), { timeoutMs, account: { uid, gid } })
    expect(stdout).toBe(`${uid}:${gid}`)
  })

  test('waits as long as it takes where no time is set', async () => {
    const { stdout } = await runProgram(node('setTimeout(() => console.log("done"), 300)'), { timeoutMs: null })
    expect(stdout).toBe('done\n')
  })
})
