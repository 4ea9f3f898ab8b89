import { hostname, release } from 'node:os'
import type { Duplex } from 'node:stream'
import { runProgram } from '../../adapters/process.ts'
import type { ProgramOptions, ProgramResult } from '../../adapters/process.ts'
import { programBlocks } from '../../adapters/program-blocks.ts'
import { programLines } from '../../adapters/program-lines.ts'
import { programStream } from '../../adapters/program-stream.ts'
import { isOnPath } from '../../adapters/this-machine.ts'
import { AdminError } from '../../core/error.ts'
import { once } from '../../core/once.ts'
import type { PlatformOptions } from '../platform.ts'
import { engineFailure } from './failure.ts'
import { command } from '../../core/shell-command.ts'

/** Docker, or Podman where it takes the same words, with the compose program that goes with it. */
export interface Engine {
  /** `docker` or `podman` */
  readonly program: string
  /** runs it with these words and gives what it said, whatever its exit code */
  ask(words: readonly string[], options?: Partial<ProgramOptions>): Promise<ProgramResult>
  /** the same, where anything but 0 is an error */
  run(words: readonly string[], options?: Partial<ProgramOptions>): Promise<string>
  /**
   * what it prints on either output, a line at a time and in their order, until it or the signal ends that; throws
   * UNEXPECTED_ANSWER where it fails
   */
  lines(words: readonly string[], signal: AbortSignal): AsyncGenerator<string>
  /** the same as bytes, as it comes; throws as `run` */
  blocks(words: readonly string[], signal?: AbortSignal): AsyncGenerator<Uint8Array>
  /** the same as a connection: its standard input and output */
  stream(words: readonly string[]): Duplex
  /**
   * the words of the compose program: `docker compose`, else `docker-compose`. Throws UNAVAILABLE where there is
   * neither
   */
  compose(): Promise<readonly [string, ...string[]]>
  /**
   * a command of the compose program; anything but 0 is an error. `allProfiles`: of services that take a profile to be
   * there, too
   */
  runCompose(words: readonly string[], options?: Partial<ProgramOptions> & { allProfiles?: boolean }): Promise<string>
  /**
   * whether its compose program's `up` takes `--pull missing`, by its own help: the first versions of 2 do not, nor
   * does 1
   */
  canLimitPulls(): Promise<boolean>
  /**
   * whether its containers are processes of this machine, under this kernel: not so in the virtual machine of a desktop
   */
  isHere(): Promise<boolean>
  /** name of the machine that it runs on; null: it does not say */
  machine(): Promise<string | null>
  /** what its containers run on, as images name it: `linux/amd64`; null: it does not say */
  platform(): Promise<string | null>
  /** where a port that it publishes is reached from here */
  publishedAt(): Promise<string>
}

/** of a line, in characters */
const maxLength = 1_000_000
const programs = ['docker', 'podman'] as const

/** The engine whose program is installed here; null if there is none. Does not call it. */
export async function findEngine(options: PlatformOptions): Promise<Engine | null> {
  for (const program of programs)
    if (await isOnPath(program, options.environment?.['PATH'])) return engineOf(program, options)
  return null
}

/** The message if there is none. */
export function withoutEngine(): AdminError {
  return new AdminError('UNAVAILABLE', 'neither docker nor podman is installed on this machine', [
    'command -v docker podman',
  ])
}

/** The compose program. */
interface Provider {
  words: readonly [string, ...string[]]
  isPodmanCompose: boolean
}

function engineOf(program: (typeof programs)[number], options: PlatformOptions): Engine {
  const start = async (
    command: readonly [string, ...string[]],
    more: Partial<ProgramOptions> = {},
  ): Promise<ProgramResult> =>
    runProgram(command, {
      timeoutMs: options.timeoutMs,
      environment: options.environment ?? {},
      signal: options.signal,
      ...more,
    })
  const orThrow = async (
    command: readonly [string, ...string[]],
    more: Partial<ProgramOptions> = {},
  ): Promise<string> => {
    const result = await start(command, more)
    if (result.exitCode !== 0) throw engineFailure(command, result)
    return result.stdout
  }
  const ask: Engine['ask'] = async (words, more) => start([program, ...words], more)
  const provider = once(async (): Promise<Provider> => {
    const { exitCode, stdout, stderr } = await ask(['compose', 'version'])
    // `podman compose` runs either program, and says which
    if (exitCode === 0)
      return { words: [program, 'compose'], isPodmanCompose: /podman-compose/.test(`${stdout}${stderr}`) }
    const alone = `${program}-compose`
    if (await isOnPath(alone, options.environment?.['PATH']))
      return { words: [alone], isPodmanCompose: alone === 'podman-compose' }
    throw new AdminError(
      'UNAVAILABLE',
      `neither \`${program} compose\` nor \`${alone}\` is installed on this machine`,
      [command`${program} compose version`],
    )
  })
  const information = once(async () => machineIn((await ask(['info', '--format', '{{json .}}'])).stdout))
  return {
    program,
    ask,
    run: async (words, more) => orThrow([program, ...words], more),
    lines(words, signal) {
      const shown = [program, ...words] as const
      return programLines(bothOutputs(shown), { maxLength, environment: options.environment ?? {}, shown, signal })
    },
    blocks(words, signal = options.signal) {
      const shown = [program, ...words] as const
      return programBlocks(bothOutputs(shown), {
        environment: options.environment ?? {},
        shown,
        signal,
        failure: (result) => engineFailure(shown, result),
      })
    },
    stream: (words) => programStream([program, ...words], options.environment ?? {}),
    compose: async () => (await provider()).words,
    async runCompose(words, { allProfiles = false, ...more } = {}) {
      const own = await provider()
      // older versions know no flag for it, and pass over the variable
      const environment = { ...options.environment, ...(allProfiles && { COMPOSE_PROFILES: '*' }) }
      return orThrow([...own.words, ...(own.isPodmanCompose ? withoutFolder(words) : words)], { environment, ...more })
    },
    canLimitPulls: async () =>
      /--pull string[^]{0,200}"missing"/.test((await start([...(await provider()).words, 'up', '--help'])).stdout),
    async isHere() {
      const { name, kernel } = await information()
      return name === hostname() && kernel === release()
    },
    machine: async () => (await information()).name,
    platform: async () => (await information()).platform,
    publishedAt: once(async () => hostOf(options.environment?.['DOCKER_HOST'] || (await contextAddress(ask)))),
  }
}

/** With two pipes, nobody could tell which line came first. */
function bothOutputs(command: readonly string[]): readonly [string, ...string[]] {
  return ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...command]
}

/** podman-compose knows no such flag: its folder is that of the first file (podman_compose.py, PodmanCompose.parse). */
function withoutFolder(words: readonly string[]): readonly string[] {
  const at = words.indexOf('--project-directory')
  return at < 0 ? words : words.toSpliced(at, 2)
}

/** Docker and Podman show it in different forms. */
function machineIn(text: string): { name: string | null; kernel: string | null; platform: string | null } {
  const told = jsonIn(text) as {
    Name?: string
    KernelVersion?: string
    OSType?: string
    Architecture?: string
    host?: { hostname?: string; kernel?: string; os?: string; arch?: string }
  } | null
  const [system, architecture] = [told?.OSType || told?.host?.os, told?.Architecture || told?.host?.arch]
  return {
    name: told?.Name || told?.host?.hostname || null,
    kernel: told?.KernelVersion || told?.host?.kernel || null,
    platform: system && architecture ? `${system}/${imageArchitectures[architecture] ?? architecture}` : null,
  }
}

/** Docker tells its machine's as `uname -m` does, images have Go's names (containerd, platforms.normalizeArch). */
const imageArchitectures: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  'x86-64': 'amd64',
  aarch64: 'arm64',
  armhf: 'arm',
  armel: 'arm',
  i386: '386',
}

async function contextAddress(ask: Engine['ask']): Promise<string> {
  const { stdout, exitCode } = await ask(['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'])
  return exitCode === 0 ? stdout.trim() : ''
}

/** An engine at a socket publishes ports on this machine; a remote engine on its own. */
function hostOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  return url !== null && ['tcp:', 'ssh:', 'http:', 'https:'].includes(url.protocol)
    ? url.hostname || '127.0.0.1'
    : '127.0.0.1'
}

export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
