import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mayShare, ofGo, runWarm } from '../../support/warm/index.ts'

/** Home folder of all operators, so that the program's compile cache is shared */
const home = join(tmpdir(), `testops-admin-operators-${process.getuid?.() ?? 0}`)
const program = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))

/** The deployment that an operator works on: a lab of `ownLab`, or a deployment of `deploy`. */
export interface WorkedOn {
  /** The name of the deployment */
  name: string
  /** Variables by which the program finds the deployment */
  environment: Readonly<Record<string, string>>
}

/** Flags that accept the risk of resuming a run from another machine. */
export const foreign: readonly string[] = ['--accept-risk', 'foreign-run']

export interface OperatorOptions {
  /** State folder: two of them are two machines. Absent: one of its own */
  state?: string
  env?: Readonly<Record<string, string>>
  /** A point at which the process kills itself, such as `release-lock:judged` (`core/failpoint.ts`) */
  failpoint?: string
  /** The whole of standard input; absent: empty */
  input?: string
}

export interface Ended {
  /** Null if a signal ended it */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  milliseconds: number
  /** Returns the document that it printed; throws if it printed none */
  json: <T>() => T
}

export interface Begun {
  child: ChildProcess
  ended: Promise<Ended>
  /** Returns its standard error so far */
  said: () => string
  /** Returns once standard error has that text; throws if the process ends first */
  until: (text: string | RegExp) => Promise<void>
  /** Returns once a failpoint `…=stop` has stopped it; throws if the process ends first */
  untilStopped: () => Promise<void>
  goOn: () => void
}

/** An operator who types commands at a machine. */
export interface Operator {
  /** The operator's state folder, as XDG_STATE_HOME */
  readonly state: string
  /** Runs a command, in a process that may have run others before, but where it is to be killed or reads its input */
  run: (words: readonly string[], options?: OperatorOptions) => Promise<Ended>
  /** Runs a command, confirmed by the deployment's name and with --json */
  repair: (words: readonly string[], options?: OperatorOptions) => Promise<Ended>
  /** Runs `repair`, which must end by SIGKILL at that failpoint; throws otherwise */
  killedAt: (failpoint: string, words: readonly string[], options?: OperatorOptions) => Promise<Ended>
  /** Runs a command in a process of its own */
  begin: (words: readonly string[], options?: OperatorOptions) => Begun
  /** Returns the same person on another machine */
  elsewhere: () => Promise<Operator>
  /** Kills what still runs, and removes the state folder */
  leave: () => Promise<void>
}

/** Creates an operator of that deployment, on a machine without any repair so far unless `state` is given. */
export async function operator({ name, environment }: WorkedOn, given: OperatorOptions = {}): Promise<Operator> {
  const own = given.state ?? (await mkdtemp(join(tmpdir(), 'testops-admin-operator-')))
  await mkdir(home, { recursive: true, mode: 0o700 })
  const running = new Set<ChildProcess>()
  const others: Operator[] = []
  const surroundings = ({ state = own, env = {}, failpoint = given.failpoint }: OperatorOptions) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    NO_COLOR: '1',
    ...ofGo,
    ...environment,
    TESTOPS_ADMIN_DEPLOYMENT: name,
    XDG_STATE_HOME: state,
    ...(failpoint !== undefined && { TESTOPS_ADMIN_FAILPOINT: failpoint }),
    ...given.env,
    ...env,
  })
  const begin: Operator['begin'] = (words, options = {}) => {
    const { input } = options
    const since = performance.now()
    const child = spawn(process.execPath, [program, ...words], {
      cwd: own,
      env: surroundings(options),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    // the process may end without reading it
    child.stdin.on('error', () => undefined).end(input ?? '')
    running.add(child)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => {
        running.delete(child)
        resolve({
          code,
          signal,
          stdout,
          stderr,
          milliseconds: performance.now() - since,
          json: <T>() => documentIn<T>(words, stdout, stderr),
        })
      })
    })
    return {
      child,
      ended,
      said: () => stderr,
      goOn: () => void child.kill('SIGCONT'),
      async untilStopped() {
        const isStopped = async (): Promise<boolean> =>
          / T /.test((await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => '')).replace(/^.*\)/, ')'))
        while (!(await isStopped())) {
          if (child.exitCode !== null || child.signalCode !== null)
            throw new Error(`${words.join(' ')} ended without being stopped: ${stderr}${stdout}`)
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      },
      async until(text) {
        const isThere = (): boolean => (typeof text === 'string' ? stderr.includes(text) : text.test(stderr))
        while (!isThere()) {
          if (child.exitCode !== null || child.signalCode !== null) {
            await ended
            if (isThere()) return
            throw new Error(`${words.join(' ')} ended without saying ${String(text)}: ${stderr}${stdout}`)
          }
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      },
    }
  }
  const run: Operator['run'] = async (words, options = {}) => {
    const env = surroundings(options)
    if (options.input !== undefined || !mayShare(env)) return begin(words, options).ended
    const since = performance.now()
    const { exitCode: code, stdout, stderr } = await runWarm({ words, directory: own, environment: env })
    return {
      code,
      signal: null,
      stdout,
      stderr,
      milliseconds: performance.now() - since,
      json: <T>() => documentIn<T>(words, stdout, stderr),
    }
  }
  const repair: Operator['repair'] = async (words, options) => run([...words, '--confirm', name, '--json'], options)
  return {
    state: own,
    begin,
    run,
    repair,
    async killedAt(failpoint, words, options) {
      const ended = await repair(words, { ...options, failpoint })
      if (ended.signal === 'SIGKILL') return ended
      throw new Error(
        `${words.join(' ')} was to be killed at ${failpoint}, and ended with ${ended.code}: ` +
          `${ended.stderr}${ended.stdout}`,
      )
    },
    async elsewhere() {
      const other = await operator({ name, environment }, { ...(given.env && { env: given.env }) })
      others.push(other)
      return other
    },
    async leave() {
      for (const child of running) child.kill('SIGKILL')
      await Promise.all(others.map(async (other) => other.leave()))
      if (given.state === undefined) await rm(own, { recursive: true, force: true })
    },
  }
}

function documentIn<T>(words: readonly string[], stdout: string, stderr: string): T {
  try {
    return JSON.parse(stdout) as T
  } catch {
    throw new Error(`${words.join(' ')} printed no JSON document: ${stdout}${stderr}`)
  }
}
