import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import type { Engine } from './engine.ts'
import { engineFailure, jsonIn } from './engine.ts'

/** A container of a compose project, as `docker inspect` shows it; names as there. */
export interface Container {
  id: string
  name: string
  /** Image that it was created from, as named then: `registry/repository/name:tag` */
  image: string
  project: string
  service: string
  /** Absolute paths of the project's compose files; empty if the labels do not name them */
  files: readonly string[]
  folder: string | null
  /** Files that were passed as `--env-file` */
  environmentFiles: readonly string[]
  labels: Readonly<Record<string, string>>
  environment: readonly string[]
  /** Host name that the container sees as its own */
  hostname: string
  /** Null: not known */
  createdAt: Date | null
  state: ContainerState
  /** Milliseconds from its start on after which its health check may call it unhealthy; null: it has no health check */
  unhealthyAfterMs: number | null
  restarts: number
  restartPolicy: string
  networkMode: string
  extraHosts: readonly string[]
  networks: readonly { name: string; address: string; aliases: readonly string[] }[]
  /** Port such as `8080/tcp` to the addresses at which the engine publishes it */
  ports: Readonly<Record<string, readonly { host: string; port: number }[]>>
}

interface ContainerState {
  /** One of created, running, paused, restarting, removing, exited, dead */
  status: string
  pid: number
  exitCode: number
  error: string
  outOfMemory: boolean
  startedAt: Date | null
  finishedAt: Date | null
  /** One of starting, healthy, unhealthy; null if it has no health check */
  health: string | null
  /** Last output of its health check */
  healthOutput: string | null
}

const labels = {
  project: 'com.docker.compose.project',
  service: 'com.docker.compose.service',
  folder: 'com.docker.compose.project.working_dir',
  files: 'com.docker.compose.project.config_files',
  environmentFiles: 'com.docker.compose.project.environment_file',
  oneOff: 'com.docker.compose.oneoff',
} as const

/**
 * Lists the containers of compose projects, or of one named project; includes stopped ones. Throws UNAVAILABLE,
 * FORBIDDEN, TIMED_OUT, UNEXPECTED_ANSWER.
 */
export async function composeContainers(engine: Engine, project: string | null = null): Promise<Container[]> {
  const filter = project === null ? labels.project : `${labels.project}=${project}`
  const ids = (await engine.run(['ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${filter}`]))
    .split('\n')
    .filter(Boolean)
  if (ids.length === 0) return []
  const words = ['inspect', '--type', 'container', ...ids] as const
  const result = await engine.ask(words, { maxBytes: 50_000_000 })
  const command = [engine.program, ...words] as const
  const isGone = /no such (?:object|container)/i.test(result.stderr)
  // a container that was removed since the listing is left out
  if (result.exitCode !== 0 && !isGone) throw engineFailure(command, result)
  const shown = jsonIn(result.stdout)
  if (Array.isArray(shown)) return shown.flatMap((it) => containerIn(it) ?? [])
  throw new AdminError('UNEXPECTED_ANSWER', `\`${engine.program} inspect\` did not print JSON`, [
    typed(command.slice(0, 5)),
  ])
}

interface Shown {
  Id?: string
  Name?: string
  Created?: string
  RestartCount?: number
  State?: {
    Status?: string
    Pid?: number
    ExitCode?: number
    Error?: string
    OOMKilled?: boolean
    StartedAt?: string
    FinishedAt?: string
    Health?: Health
    Healthcheck?: Health
  }
  Config?: {
    Image?: string
    Env?: string[] | null
    Hostname?: string
    Labels?: Record<string, string> | null
    Healthcheck?: HealthCheck | null
  }
  HostConfig?: { RestartPolicy?: { Name?: string }; NetworkMode?: string; ExtraHosts?: string[] | null }
  NetworkSettings?: {
    Networks?: Record<
      string,
      { IPAddress?: string; Aliases?: string[] | null; DNSNames?: string[] | null } | null
    > | null
    Ports?: Record<string, { HostIp?: string; HostPort?: string }[] | null> | null
  }
}

/** Times are nanoseconds; 0 stands for the engine's default (Docker documentation, `HEALTHCHECK`). */
interface HealthCheck {
  Test?: string[] | null
  Interval?: number
  StartPeriod?: number
  Retries?: number
}

interface Health {
  Status?: string
  Log?: { Output?: string }[] | null
}

/** Reads a container from `docker inspect`; null unless a service of a project has it, as for `docker compose run`. */
export function containerIn(shown: unknown): Container | null {
  const {
    Id: id,
    Name = '',
    Created,
    Config = {},
    State = {},
    HostConfig = {},
    NetworkSettings = {},
    RestartCount = 0,
  } = (shown ?? {}) as Shown
  const own = Config.Labels ?? {}
  const { [labels.project]: project, [labels.service]: service, [labels.folder]: folder } = own
  if (!id || !project || !service || own[labels.oneOff]?.toLowerCase() === 'true') return null
  return {
    id,
    name: Name.replace(/^\//, ''),
    image: Config.Image ?? '',
    project,
    service,
    files: listIn(own[labels.files]).map((file) => within(folder, file)),
    folder: folder || null,
    environmentFiles: listIn(own[labels.environmentFiles]),
    labels: own,
    environment: Config.Env ?? [],
    hostname: Config.Hostname || id.slice(0, 12),
    createdAt: timeIn(Created),
    state: stateIn(State),
    unhealthyAfterMs: unhealthyAfterMs(Config.Healthcheck ?? {}),
    restarts: RestartCount,
    restartPolicy: HostConfig.RestartPolicy?.Name ?? '',
    networkMode: HostConfig.NetworkMode ?? '',
    extraHosts: HostConfig.ExtraHosts ?? [],
    networks: Object.entries(NetworkSettings.Networks ?? {}).map(([name, it]) => ({
      name,
      address: it?.IPAddress ?? '',
      aliases: [...new Set([...(it?.Aliases ?? []), ...(it?.DNSNames ?? [])])],
    })),
    ports: Object.fromEntries(
      Object.entries(NetworkSettings.Ports ?? {}).map(([port, at]) => [
        port,
        (at ?? []).map((it) => ({ host: it.HostIp ?? '', port: Number(it.HostPort) })),
      ]),
    ),
  }
}

/** What a health check has where it does not say otherwise. */
const usualCheck = { intervalMs: 30_000, retries: 3 } as const

function unhealthyAfterMs({ Test: test, Interval = 0, StartPeriod = 0, Retries = 0 }: HealthCheck): number | null {
  if (!test || test.length === 0 || test[0] === 'NONE') return null
  return StartPeriod / 1e6 + (Interval / 1e6 || usualCheck.intervalMs) * (Retries || usualCheck.retries)
}

function stateIn(state: NonNullable<Shown['State']>): ContainerState {
  // older versions of Podman have the second name
  const health = state.Health ?? state.Healthcheck
  return {
    status: state.Status ?? 'unknown',
    pid: state.Pid ?? 0,
    exitCode: state.ExitCode ?? 0,
    error: state.Error ?? '',
    outOfMemory: state.OOMKilled ?? false,
    startedAt: timeIn(state.StartedAt),
    finishedAt: timeIn(state.FinishedAt),
    health: health?.Status && health.Status !== 'none' ? health.Status : null,
    healthOutput: health?.Log?.at(-1)?.Output?.trim() || null,
  }
}

/** Parses a time; null if it is missing, or in the year 1, which stands for an event that has not happened yet. */
function timeIn(text: string | undefined): Date | null {
  const time = new Date(text ?? '')
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() <= 1970 ? null : time
}

function listIn(label: string | undefined): string[] {
  return label ? label.split(',').filter(Boolean) : []
}

/** Completes a path with its folder: docker-compose 1 records paths as they were typed. */
function within(folder: string | undefined, file: string): string {
  return file.startsWith('/') || !folder ? file : `${folder}/${file.replace(/^\.\//, '')}`
}
