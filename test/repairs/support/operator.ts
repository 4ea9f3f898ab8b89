import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** of all of them: what the program compiles once is kept there */
const home = join(tmpdir(), `testops-admin-operators-${process.getuid?.() ?? 0}`)
const program = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))

/** What is worked on: a lab of `ownLab`, or a deployment of `deploy`. */
export interface WorkedOn {
  /** of the deployment */
  name: string
  /** by which the program finds it */
  environment: Readonly<Record<string, string>>
}

/** Words that accept the risk of a run that another machine began. */
export const foreign: readonly string[] = ['--accept-risk', 'foreign-run']

export interface OperatorOptions {
  /** state folder: two of them are two machines. One of its own where absent */
  state?: string
  env?: Readonly<Record<string, string>>
  /** `release-lock:judged`: the process kills itself there (`core/failpoint.ts`) */
  failpoint?: string
  /** of standard input, which has nothing else */
  input?: string
}

export interface Ended {
  /** null where a signal ended it */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  milliseconds: number
  /** the document that it printed; throws where that is none */
  json: <T>() => T
}

export interface Begun {
  child: ChildProcess
  ended: Promise<Ended>
  /** what it has said on standard error so far */
  said: () => string
  /** returns once standard error has that text; throws where it ended before */
  until: (text: string | RegExp) => Promise<void>
  /** returns once a failpoint `…=stop` has stopped it; throws where it ended before */
  untilStopped: () => Promise<void>
  goOn: () => void
}

/** Someone at a machine who types commands: each is the built program, in a process of its own. */
export interface Operator {
  /** its state folder, as XDG_STATE_HOME */
  readonly state: string
  run: (words: readonly string[], options?: OperatorOptions) => Promise<Ended>
  /** the same, confirmed by the deployment's name and with --json */
  repair: (words: readonly string[], options?: OperatorOptions) => Promise<Ended>
  /** `repair` that has to end by SIGKILL at that failpoint */
  killedAt: (failpoint: string, words: readonly string[], options?: OperatorOptions) => Promise<Ended>
  begin: (words: readonly string[], options?: OperatorOptions) => Begun
  /** the same person at another machine */
  elsewhere: () => Promise<Operator>
  /** kills what still runs, and removes the state folders */
  leave: () => Promise<void>
}

/** An operator of that deployment, at a machine on which nothing was ever repaired unless `state` is given. */
export async function operator({ name, environment }: WorkedOn, given: OperatorOptions = {}): Promise<Operator> {
  const own = given.state ?? (await mkdtemp(join(tmpdir(), 'testops-admin-operator-')))
  await mkdir(home, { recursive: true, mode: 0o700 })
  const running = new Set<ChildProcess>()
  const others: Operator[] = []
  const begin: Operator['begin'] = (words, options = {}) => {
    const { state = own, env = {}, failpoint = given.failpoint, input } = options
    const since = performance.now()
    const child = spawn(process.execPath, [program, ...words], {
      cwd: own,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        LANG: 'C.UTF-8',
        TZ: 'UTC',
        NO_COLOR: '1',
        ...environment,
        TESTOPS_ADMIN_DEPLOYMENT: name,
        XDG_STATE_HOME: state,
        ...(failpoint !== undefined && { TESTOPS_ADMIN_FAILPOINT: failpoint }),
        ...given.env,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    // it may end without reading it
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
  const run: Operator['run'] = async (words, options) => begin(words, options).ended
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
        `${words.join(' ')} was to be killed at ${failpoint}, and ended with ${ended.code}: ${ended.stderr}${ended.stdout}`,
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
