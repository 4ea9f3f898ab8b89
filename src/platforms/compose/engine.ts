import { readFile } from 'node:fs/promises'
import { homedir, hostname, release } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import type { Duplex } from 'node:stream'
import { isOnPath } from '../../adapters/network.ts'
import type { ProgramOptions, ProgramResult } from '../../adapters/process.ts'
import { endOf, runProgram } from '../../adapters/process.ts'
import { programBlocks, programLines, programStream } from '../../adapters/program-output.ts'
import { once } from '../../core/answers.ts'
import { AdminError } from '../../core/error.ts'
import { redactUrl } from '../../core/secret.ts'
import { command } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import type { PlatformOptions } from '../platform.ts'

/** Explains why an engine or its compose program did not do what was asked. */
export function engineFailure(words: readonly [string, ...string[]], result: ProgramResult): AdminError {
  const [program] = words
  const said = `${result.stderr}${result.stdout}`
  // moby, client/errors.go; the socket belongs to the group docker
  if (/permission denied(?:(?!permission denied).)*(?:daemon|socket)/is.test(said)) {
    return new AdminError('FORBIDDEN', `the socket of ${program} denies access to this user`, [
      'id -nG   # lists the groups of this user: docker should be one of them',
      'run the same command with sudo',
    ])
  }
  // a message about a registry begins with the engine's own words
  if (
    !/error response from daemon/i.test(said) &&
    /cannot connect to the docker daemon|error during connect|connection refused|cannot connect to podman/i.test(said)
  ) {
    return new AdminError(
      'UNAVAILABLE',
      `${program} is installed, but its engine does not answer: \`${program}\` ${endOf(result)}`,
      [command`${program} info`],
    )
  }
  // podman-compose 1.0.3, of Debian 12, lacks it; 1.3.0 and 1.6.0 have it
  if (/invalid choice: 'config'/.test(said)) {
    return new AdminError(
      'UNAVAILABLE',
      'the installed podman-compose has no command `config`: install a version that has it, such as 1.3.0',
      ['podman-compose --version'],
    )
  }
  return new AdminError('UNEXPECTED_ANSWER', `\`${typed(words)}\` ${endOf(result)}`, [typed(words)])
}

/** Docker, or Podman where it accepts the same arguments, with the matching compose program. */
export interface Engine {
  /** `docker` or `podman` */
  readonly program: string
  /** Runs the program with these arguments and returns its output, whatever the exit code */
  ask(words: readonly string[], options?: Partial<ProgramOptions>): Promise<ProgramResult>
  /** Runs the program and returns its standard output; throws unless it exits with 0 */
  run(words: readonly string[], options?: Partial<ProgramOptions>): Promise<string>
  /**
   * Yields the lines of both outputs in the order printed, until the program or the signal ends them. Throws
   * UNEXPECTED_ANSWER if the program fails
   */
  lines(words: readonly string[], signal: AbortSignal): AsyncGenerator<string>
  /** Yields both outputs as bytes, as they arrive; throws as `run` */
  blocks(words: readonly string[], signal?: AbortSignal): AsyncGenerator<Uint8Array>
  /** Runs the program and returns a stream of its standard input and output */
  stream(words: readonly string[]): Duplex
  /**
   * Returns the words that run the compose program: `docker compose`, else `docker-compose`. Throws UNAVAILABLE if
   * neither is installed
   */
  compose(): Promise<readonly [string, ...string[]]>
  /**
   * Runs a command of the compose program and returns its output; throws unless it exits with 0. `allProfiles`: also of
   * services whose profile is not active
   */
  runCompose(words: readonly string[], options?: Partial<ProgramOptions> & { allProfiles?: boolean }): Promise<string>
  /**
   * True if the compose program's `up` accepts `--pull missing`, as its help shows; version 1 and the first versions 2
   * do not
   */
  canLimitPulls(): Promise<boolean>
  /** True if its containers are processes of this machine, under this kernel; false in a desktop's virtual machine */
  isHere(): Promise<boolean>
  /** Returns the name of the machine that it runs on; null if it does not say */
  machine(): Promise<string | null>
  /** Returns its containers' platform, as images name it: `linux/amd64`; null if it does not say */
  platform(): Promise<string | null>
  /** Returns the host at which this machine reaches a port that the engine publishes */
  publishedAt(): Promise<string>
}

/** Maximum characters per line */
const maxLength = 1_000_000
const programs = ['docker', 'podman'] as const

/** Finds the engine whose program is installed on this machine; null if none is. Does not call it. */
export async function findEngine(options: PlatformOptions): Promise<Engine | null> {
  for (const program of programs)
    if (await isOnPath(program, options.environment?.['PATH'])) return engineOf(program, options)
  return null
}

/** Returns the error for a machine without docker and podman. */
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
      // older versions have no flag for it, and ignore the variable
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

/** Joins both outputs into one: two pipes would lose the order of their lines. */
function bothOutputs(command: readonly string[]): readonly [string, ...string[]] {
  return ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...command]
}

/** Drops a flag that podman-compose lacks: it uses the first file's folder (podman_compose.py, PodmanCompose.parse). */
function withoutFolder(words: readonly string[]): readonly string[] {
  const at = words.indexOf('--project-directory')
  return at < 0 ? words : words.toSpliced(at, 2)
}

/** Reads the engine's machine from `info`, which Docker and Podman print in different forms. */
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

/** Docker names architectures as `uname -m` does, images as Go does (containerd, platforms.normalizeArch). */
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

/** Default addresses of an engine on this machine */
const usual = ['unix:///var/run/docker.sock', 'unix:///run/docker.sock']

/**
 * Names the engine that this machine uses, for people: projects of several engines may have the same name. Null for
 * this machine's default engine. Does not contact it (docs.docker.com, "Docker contexts": DOCKER_HOST overrides
 * DOCKER_CONTEXT, which overrides the configuration; podman(1): CONTAINER_HOST).
 */
export async function engineAt({ environment = env }: Pick<PlatformOptions, 'environment'>): Promise<string | null> {
  const address = environment['DOCKER_HOST'] || environment['CONTAINER_HOST']
  if (address) return usual.includes(address) ? null : `engine ${redactUrl(address)}`
  const context = environment['DOCKER_CONTEXT'] || (await currentContext(environment))
  return context === '' || context === 'default' ? null : `engine of the context ${context}`
}

async function currentContext(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const folder = environment['DOCKER_CONFIG'] || join(environment['HOME'] || homedir(), '.docker')
  const written = jsonIn(await readFile(join(folder, 'config.json'), 'utf8').catch(() => '')) as {
    currentContext?: unknown
  } | null
  return typeof written?.currentContext === 'string' ? written.currentContext : ''
}
