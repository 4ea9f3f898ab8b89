import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { hasEnded, markOf } from '../../../src/adapters/process-identity.ts'
import type { ServerRecord } from '../../../src/lab/servers/index.ts'
import { onTerminal } from '../../support/terminal.ts'
import type { Answer, Shown } from '../../support/terminal.ts'
import { processesWith } from '../../support/processes.ts'
import { mayShare, runWarm } from '../../support/warm/index.ts'

const allLabs = join(tmpdir(), `testops-admin-labs-${process.getuid?.() ?? 0}`)
const program = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))

interface Ended {
  exitCode: number | null
  stdout: string
  stderr: string
}

interface Started {
  child: ChildProcess
  /** as Ctrl-C does: to the command and to every program that it runs */
  interrupt(): void
  ended: Promise<Ended>
}

/** A lab of one test file, in a folder of its own; every command is the real one. */
export interface OwnLab {
  root: string
  /** in a process that may have run others before; `start` runs it in one of its own */
  run(...words: string[]): Promise<Ended>
  /** as `run`; throws with what it said where it does not end with 0 */
  must(...words: string[]): Promise<void>
  /** the document that a command prints under --json; throws where it prints none */
  json<T>(...words: string[]): Promise<{ exitCode: number | null; document: T; stderr: string }>
  start(...words: string[]): Started
  /** types a line in a shell on a terminal */
  type(line: string, answers?: readonly Answer[]): Promise<Shown>
  /** takes the lab down and says what is left of it: processes and folders */
  end(): Promise<string[]>
}

/** `command`: starts another form of the program than bin/run.js. */
export async function ownLab(
  environment: Readonly<Record<string, string>> = {},
  command?: readonly [string, ...string[]],
): Promise<OwnLab> {
  const [file, ...own] = command ?? [process.execPath, program]
  await removeLeftovers()
  const parent = await mkdtemp(join(allLabs, 'lab-'))
  await writeFile(join(parent, 'owner'), await markOf(process.pid))
  const root = join(parent, 'lab')
  // what is on record of repairs of a deployment `lab` is this lab's alone
  const ours = { TESTOPS_ADMIN_LAB_DIR: root, XDG_STATE_HOME: join(parent, 'state') }
  const abandon = (): void => {
    if (existsSync(root)) spawnSync(file, [...own, 'lab', 'down'], { env: { ...process.env, ...ours, ...environment } })
  }
  process.once('exit', abandon)
  const surroundings = { ...process.env, NO_COLOR: '1', ...ours, ...environment }
  const start: OwnLab['start'] = (...words) => {
    const child = spawn(file, [...own, ...words], {
      cwd: parent,
      env: surroundings,
      stdio: ['ignore', 'pipe', 'pipe'],
      // a group of its own, as a shell gives to each command
      detached: true,
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
    child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
    const ended = new Promise<Ended>((resolve) =>
      child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr })),
    )
    return { child, ended, interrupt: () => void process.kill(-child.pid!, 'SIGINT') }
  }
  const run: OwnLab['run'] = async (...words) =>
    !command && mayShare(surroundings)
      ? runWarm({ words, directory: parent, environment: surroundings })
      : start(...words).ended
  return {
    root,
    start,
    run,
    type: async (line, answers = []) => onTerminal(line, { cwd: parent, env: { ...ours, ...environment }, answers }),
    async must(...words) {
      const { exitCode, stderr } = await run(...words)
      if (exitCode !== 0) throw new Error(`${words.join(' ')} exited with ${exitCode}: ${stderr}`)
    },
    async json<T>(...words: string[]) {
      const { exitCode, stdout, stderr } = await run(...words, '--json')
      try {
        return { exitCode, document: JSON.parse(stdout) as T, stderr }
      } catch {
        throw new Error(`${words.join(' ')} printed no JSON document (exit code ${exitCode}): ${stdout}${stderr}`)
      }
    },
    async end() {
      const marks = marksOf(root)
      const down = await run('lab', 'down')
      const left = [
        ...(down.exitCode === 0 ? [] : [`lab down ended with ${down.exitCode}: ${down.stderr}`]),
        ...(existsSync(root) ? [`folder ${root}: ${readdirSync(root).join(', ')}`] : []),
        ...marks.filter((mark) => mark !== root && isAbsolute(mark) && existsSync(mark)),
        ...processesWith(marks).map(({ pid, command }) => `process ${pid}: ${command}`),
      ]
      process.removeListener('exit', abandon)
      if (left.length === 0) await rm(parent, { recursive: true, force: true })
      return left
    },
  }
}

/** Longest that the lab takes to start or to end on a busy machine. */
const labTimeoutMs = 180_000

/** Returns a lab for all tests of a file or `describe`: up before them, down after them, and nothing is left of it. */
export function sharedLab(...flags: readonly string[]): OwnLab {
  let lab: OwnLab
  beforeAll(async () => {
    lab = await ownLab()
    await lab.must('lab', 'up', ...flags)
  }, labTimeoutMs)
  afterAll(async () => expect(await lab.end()).toEqual([]), labTimeoutMs)
  return {
    get root() {
      return lab.root
    },
    start: (...words) => lab.start(...words),
    run: async (...words) => lab.run(...words),
    must: async (...words) => lab.must(...words),
    json: async (...words) => lab.json(...words),
    type: async (...given) => lab.type(...given),
    end: async () => lab.end(),
  }
}

/** Labs of test runs that were killed. */
async function removeLeftovers(): Promise<void> {
  await mkdir(allLabs, { recursive: true, mode: 0o700 })
  for (const name of await readdir(allLabs)) {
    const folder = join(allLabs, name)
    const owner = await readFile(join(folder, 'owner'), 'utf8').catch(() => null)
    // without a word on its owner it is only just being made; another container's owner may be at work
    if (owner === null || (await hasEnded(owner)) !== true) continue
    const own = { TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab'), XDG_STATE_HOME: join(folder, 'state') }
    spawnSync(process.execPath, [program, 'lab', 'down'], { env: { ...process.env, ...own } })
    await rm(folder, { recursive: true, force: true })
  }
}

/** Words by which processes of the lab are known: its folder, and the servers' own. */
function marksOf(root: string): string[] {
  const servers = join(root, 'servers')
  const folders = existsSync(servers) ? readdirSync(servers) : []
  const ofServers = folders.flatMap((folder) => {
    try {
      const { id, local } = JSON.parse(readFileSync(join(servers, folder, 'server.json'), 'utf8')) as ServerRecord
      return [`TESTOPS_ADMIN_SERVER=${id}`, ...(local ? [local.home] : [])]
    } catch {
      return []
    }
  })
  return [root, ...ofServers]
}
