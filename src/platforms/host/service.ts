import { readdir, readFile, readlink } from 'node:fs/promises'
import { networkSource } from '../../adapters/network.ts'
import { javaProcesses } from '../../core/host.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import type { Secret } from '../../core/secret.ts'
import { asPath, command, editing } from '../../core/shell-command.ts'
import type {
  ServiceImage,
  ServiceInstance,
  ServiceOrigin,
  ServiceSource,
  ServiceStatus,
  SettingsDrift,
} from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { isOfService } from '../../knowledge/settings.ts'
import { differing } from '../drift.ts'
import type { PlatformOptions } from '../platform.ts'
import { readEnvironment } from './environment.ts'
import { readMachine } from './machine.ts'
import type { HostSettings, ServiceManager } from './manager.ts'

/**
 * Lists the TCP connections of the instances' processes, and of those that they have started. Null if the system does
 * not show them: not on Linux, or processes of another user.
 */
export async function originsOf(instances: readonly ServiceInstance[]): Promise<readonly ServiceOrigin[] | null> {
  if (instances.length === 0) return []
  if (process.platform !== 'linux' || instances.some(({ pid }) => pid === null)) return null
  try {
    const parents = await parentsOfAll()
    const all = await Promise.all(
      instances.map(async ({ name, pid }) => connectionsOf(name, [pid!, ...descendantsOf(pid!, parents)])),
    )
    return all.flat()
  } catch {
    // a process may end meanwhile, or be another user's: what is hidden proves nothing
    return null
  }
}

async function connectionsOf(instance: string, pids: readonly number[]): Promise<ServiceOrigin[]> {
  const own = new Set((await Promise.all(pids.map(socketsOf))).flat())
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map(async (name) => readFile(`/proc/${pids[0]!}/net/${name}`, 'utf8').catch(() => '')),
  )
  return tables
    .flatMap(rowsIn)
    .flatMap(({ inode, local, remote }) =>
      own.has(inode) ? [{ instance, address: local.address, port: local.port, to: remote.port }] : [],
    )
}

/** Returns the inodes of a process's sockets. Throws EACCES for another user's. */
async function socketsOf(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`)
  const links = await Promise.all(names.map(async (name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
}

async function parentsOfAll(): Promise<ReadonlyMap<number, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      // the name in brackets may itself contain blanks and brackets
      return [pid, Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])] as const
    }),
  )
  return new Map(found)
}

function descendantsOf(pid: number, parents: ReadonlyMap<number, number>): number[] {
  const children = [...parents].filter(([, parent]) => parent === pid).map(([child]) => child)
  return children.flatMap((child) => [child, ...descendantsOf(child, parents)])
}

interface End {
  address: string
  port: number
}

/**
 * Reads the established connections from lines of /proc/net/tcp or tcp6 (proc_net_tcp in the kernel's documentation).
 */
function rowsIn(table: string): { inode: string; local: End; remote: End }[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/)
      const ends = [local, remote].map((it) => endOf(it ?? ''))
      return state === '01' && inode !== undefined && ends[0] && ends[1]
        ? [{ inode, local: ends[0], remote: ends[1] }]
        : []
    })
}

/** Reads `0100007F:1538`: addresses are words of 32 bits in the machine's order, little-endian wherever this runs. */
function endOf(text: string): End | null {
  const found = /^([\dA-F]{8}|[\dA-F]{32}):([\dA-F]{4})$/.exec(text)
  if (!found) return null
  const bytes = found[1]!.match(/.{8}/g)!.flatMap((word) => word.match(/../g)!.reverse())
  return { address: addressOf(bytes), port: Number.parseInt(found[2]!, 16) }
}

function addressOf(bytes: readonly string[]): string {
  const ipv4 = (of: readonly string[]): string => of.map((it) => Number.parseInt(it, 16)).join('.')
  if (bytes.length === 4) return ipv4(bytes)
  // an IPv4 address within an IPv6 one
  if (bytes.slice(0, 10).every((it) => it === '00') && bytes[10] === 'FF' && bytes[11] === 'FF')
    return ipv4(bytes.slice(12))
  const groups = Array.from({ length: 8 }, (_, at) => `${bytes[at * 2]}${bytes[at * 2 + 1]}`)
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** Milliseconds for which the answer that opening the platform took is reused: each question may start a program */
const firstStatusLifeMs = 1000

interface Answer {
  at: number
  status: Promise<ServiceStatus>
}

/**
 * Returns the service on this machine as checks see it. What the configuration leaves out throws NOT_CONFIGURED.
 * `forget`: discards earlier answers, before the service is changed.
 */
export function hostService(
  settings: HostSettings,
  manager: ServiceManager | null,
  options: PlatformOptions,
): ServiceSource & { forget(): void } {
  const network = networkSource({ timeoutMs: options.timeoutMs })
  let first: Answer | null = null
  let isOpened = false
  let atOpening: Answer | null = null
  const opened = (): Promise<ServiceStatus> | null =>
    atOpening && performance.now() - atOpening.at <= firstStatusLifeMs ? atOpening.status : null
  return {
    async status() {
      if (!manager) throw withoutManager()
      if (!isOpened) {
        isOpened = true
        first = { at: performance.now(), status: manager.status() }
        atOpening = first
        return first.status
      }
      const answer = first && performance.now() - first.at <= firstStatusLifeMs ? first.status : manager.status()
      // a second question wants to know what has changed
      first = null
      return answer
    },
    async health() {
      if (!manager) throw withoutManager()
      return manager.health()
    },
    async origins() {
      if (!manager) throw withoutManager()
      return originsOf((await manager.status()).instances)
    },
    // a machine does not end with the service
    hasEnded: async () => false,
    // it stops and starts as one, and its manager says how that ended
    startObstacles: async () => [],
    // a proxy on this machine shows itself only in its log
    proxies: async () => [],
    // one log holds all its runs
    lastWords: async () => null,
    forget() {
      first = null
      atOpening = null
    },
    environment: () => readEnvironment(manager, settings.environmentFile),
    ...(manager?.definition && {
      definitions: async () => [{ name: settings.unit ?? 'unit', content: await manager.definition!() }],
    }),
    async changes() {
      return (await import('./changes.ts')).changesOf(settings, manager, options)
    },
    async image() {
      return declaredImage(settings)
    },
    async machines() {
      return [await readMachine(settings.cpuinfo)]
    },
    async drift() {
      if (!manager) throw withoutManager()
      const [{ instances }, declared] = await Promise.all([
        opened() ?? manager.status(),
        readEnvironment(manager, settings.environmentFile),
      ])
      return driftOf(instances[0], declared, settings.environmentFile?.path ?? manager.commands.settings)
    },
    resolve: (host) => network.resolve(host),
    // systemd does not restart what was stopped through it (systemd.service(5), "Restart=")
    controllers: async () => [],
    commands: {
      ...(manager?.commands ?? unknownCommands),
      ...(settings.logs && {
        logs:
          'file' in settings.logs ? command`tail -n 200 ${asPath(settings.logs.file)}` : typed(settings.logs.command),
      }),
      ...(settings.environmentFile !== null && {
        settings: typed([settings.environmentFile.path]),
        edit: editing(settings.environmentFile.path),
      }),
    },
    settingsFiles: settings.environmentFile === null ? null : [settings.environmentFile.path],
  }
}

/** Returns the error for a configuration that names nothing to start, stop or show the service with. */
export function withoutManager(): AdminError {
  return new AdminError(
    'NOT_CONFIGURED',
    'no start and stop commands are configured for the service: set `host.unit` or `host.commands`',
  )
}

const unknownCommands = {
  start: '# start the service',
  stop: '# stop the service',
  restart: '# restart the service',
  status: "# show the service's state",
  logs: "# read the service's log",
  processes: javaProcesses,
  settings: "the service's settings",
  edit: "# change the service's settings",
} as const

/** Splits the image that the configuration declares, `registry:5000/repository/name:tag@digest`, into its parts. */
function declaredImage({ image, build, declaredIn }: HostSettings): ServiceImage {
  const whole = image?.split('@')[0] ?? ''
  const last = whole.split('/').at(-1) ?? ''
  const [name, tag] = last.split(':')
  return {
    ...(name && { registry: whole.slice(0, whole.length - last.length) }),
    name: name || null,
    tag: tag || null,
    build,
    declaredIn,
  }
}

/**
 * Finds where the service's files differ from the environment that its process began with (proc(5),
 * `/proc/PID/environ`): they were changed since. Throws NOT_CONFIGURED if no process runs, FORBIDDEN if it is another
 * user's.
 */
async function driftOf(
  instance: ServiceInstance | undefined,
  declared: ReadonlyMap<string, string | Secret>,
  declaredIn: string,
): Promise<SettingsDrift> {
  if (!instance?.pid)
    throw new AdminError(
      'NOT_CONFIGURED',
      'the service is not running, so there are no settings in use to compare with its files',
    )
  const runs = await environmentOfProcess(instance.pid)
  // a variable from elsewhere need not have been in the service's files
  const gone = [...runs.keys()].filter((name) => !declared.has(name) && isOfService(name, declared.keys()))
  return {
    declaredIn,
    shown: command`sudo tr '\\0' '\\n' < ${`/proc/${instance.pid}/environ`}`,
    settings: differing([...declared.keys(), ...gone], declared, runs),
  }
}

async function environmentOfProcess(pid: number): Promise<Map<string, string>> {
  const file = `/proc/${pid}/environ`
  try {
    const assignments = (await readFile(file, 'utf8')).split('\0').filter((it) => it.includes('='))
    return new Map(assignments.map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)]))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EACCES' || code === 'EPERM')
      throw new AdminError(
        'FORBIDDEN',
        `this user cannot read the environment of the service's process (${file})`,
        ['run the same command with sudo'],
        { cause: error },
      )
    throw new AdminError('NOT_CONFIGURED', `the environment of the service's process cannot be read (${file})`, [], {
      cause: error,
    })
  }
}
