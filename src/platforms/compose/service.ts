import { realpath } from 'node:fs/promises'
import { readUpTo } from '../../adapters/read-file.ts'
import { YamlError, yamlDocuments } from '../../adapters/yaml/index.ts'
import { isHostName } from '../../core/host.ts'
import { AdminError } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import { command } from '../../core/shell-command.ts'
import { isObject } from '../../core/shape.ts'
import type {
  Controller,
  Definition,
  InstanceEnd,
  InstanceHealth,
  Machine,
  ServiceHealth,
  ServiceImage,
  ServiceOrigin,
  ServiceSource,
  StartLimit,
} from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { parseBuild } from '../../knowledge/builds.ts'
import { isSameHost } from '../../knowledge/lock.ts'
import { architectureIn, parseCpuinfo } from '../../knowledge/processors.ts'
import { isSecretSetting } from '../../knowledge/settings.ts'
import { differing } from '../drift.ts'
import { readMachine } from '../host/machine.ts'
import { composedImage } from './composed.ts'
import type { Container } from './containers.ts'
import { composeContainers } from './containers.ts'
import type { Engine } from './engine.ts'
import { engineFailure, jsonIn } from './engine.ts'
import type { ComposeSettings } from './find.ts'
import { imageNameOf } from './find.ts'
import { hasImage } from './images.ts'
import { assignmentsIn, containerChanges, endedByStop, pendingSettings, runs, statusOf } from './status.ts'
import type { PlatformOptions } from '../platform.ts'
import type { View } from './view.ts'
import { settingsFilesOf } from './view.ts'

/** Bytes of a compose file that are shown */
const mostDefined = 1_000_000

/** A running container, of any project or none. */
export interface RunningContainer {
  id: string
  hostname: string
  networkMode: string
  /** True if somebody runs a program in it beside its own */
  runsPrograms: boolean
}

interface Shown {
  Id?: string
  ExecIDs?: string[] | null
  Config?: { Hostname?: string }
  HostConfig?: { NetworkMode?: string }
}

/** Lists all containers that run on the engine. Throws UNAVAILABLE, FORBIDDEN, TIMED_OUT, UNEXPECTED_ANSWER. */
async function runningContainers(engine: Engine): Promise<RunningContainer[]> {
  const ids = (await engine.run(['ps', '--quiet', '--no-trunc'])).split('\n').filter(Boolean)
  if (ids.length === 0) return []
  const words = ['inspect', '--type', 'container', ...ids] as const
  const result = await engine.ask(words, { maxBytes: 50_000_000 })
  // a container that ended since the listing is left out
  if (result.exitCode !== 0 && !/no such (?:object|container)/i.test(result.stderr))
    throw engineFailure([engine.program, ...words], result)
  const shown = jsonIn(result.stdout)
  if (!Array.isArray(shown))
    throw new AdminError('UNEXPECTED_ANSWER', `\`${engine.program} inspect\` did not print JSON`, [
      typed([engine.program, ...words.slice(0, 4)]),
    ])
  return (shown as readonly (Shown | null)[]).flatMap((it) => {
    if (!it?.Id) return []
    return [
      {
        id: it.Id,
        hostname: it.Config?.Hostname || it.Id.slice(0, 12),
        networkMode: it.HostConfig?.NetworkMode ?? '',
        runsPrograms: (it.ExecIDs ?? []).length > 0,
      },
    ]
  })
}

/** Label and setting that tell autoheal what to watch (willfarrell/docker-autoheal, README). */
const watched = { label: 'autoheal', setting: 'AUTOHEAL_CONTAINER_LABEL', all: 'all' } as const

/**
 * Lists what may start the service's containers again. A running autoheal restarts what its engine calls unhealthy,
 * even in the middle of a migration (FIELD-NOTES.md 1.2). The restart policy `always` leaves a stopped container alone
 * until the engine itself restarts. `all`: every container of the engine's compose projects; `own`: those of the
 * service.
 */
export function controllersOf(own: readonly Container[], all: readonly Container[], program: string): Controller[] {
  const healers = healersOf(own, all)
  const always = own.filter((it) => it.restartPolicy === 'always')
  return [
    ...healers.map(({ name }) => ({
      name: `autoheal (container \`${name}\`)`,
      paused: false,
      pause: [typed([program, 'stop', name])],
    })),
    ...always.map(({ name }) => ({
      name: `restart policy \`always\` (container \`${name}\`)`,
      paused: true,
      pause: [typed([program, 'update', '--restart', 'unless-stopped', name])],
    })),
  ]
}

function healersOf(own: readonly Container[], all: readonly Container[]): Container[] {
  return all.filter(
    (it) => runs(it) && imageNameOf(it.image) === 'autoheal' && own.some((service) => isWatched(service, it)),
  )
}

/**
 * Returns what ends a container that takes long to start: an autoheal that watches it, once its health check calls it
 * unhealthy. Null if nothing does.
 */
export function startLimitOf(own: readonly Container[], all: readonly Container[], program: string): StartLimit | null {
  const [healer] = healersOf(own, all)
  const checked = own.find(({ unhealthyAfterMs }) => unhealthyAfterMs !== null)
  if (!healer || !checked) return null
  return {
    by: 'autoheal',
    afterMs: checked.unhealthyAfterMs!,
    proof: typed([program, 'inspect', '-f', '{{json .Config.Healthcheck}}', checked.name]),
  }
}

function isWatched({ labels }: Container, healer: Container): boolean {
  const prefix = `${watched.setting}=`
  const label = healer.environment.find((it) => it.startsWith(prefix))?.slice(prefix.length) || watched.label
  return label === watched.all || labels[label]?.toLowerCase() === 'true'
}

/** Returns the service of a compose project, as checks see it. */
export function composeService(
  view: View,
  settings: ComposeSettings,
  commands: ServiceSource['commands'],
  options: PlatformOptions,
): ServiceSource {
  const { engine, found } = view
  const own = async (): Promise<readonly Container[]> => (await view.containers()).own
  const running = async (): Promise<Container | null> =>
    (await own()).find(({ state }) => state.status === 'running') ?? null
  return {
    async status() {
      const [containers, here, declared] = await Promise.all([own(), engine.isHere(), declaredOrNull(view)])
      const [first] = containers
      const pending = first && declared ? await pendingSettings(engine, first, declared) : []
      return statusOf(
        containers,
        here,
        pending.length === 0
          ? []
          : [
              `the container and the compose files have different values for ${pending.join(', ')}: stop and start ` +
                'the service to apply the values from the files',
            ],
      )
    },
    health: async () => healthOf(await own(), engine.program),
    origins: async () => originsOf((await own()).filter(runs), await runningContainers(engine)),
    async hasEnded(host) {
      const named = (await own()).filter(({ hostname }) => isSameHost(hostname, host))
      if (named.length === 0 || named.some(runs)) return false
      // another container may have that name too: by its own file, or as it shares this one's network
      return !(await runningContainers(engine)).some(
        ({ id, hostname }) => isSameHost(hostname, host) && !named.some((it) => it.id === id),
      )
    },
    // the engine does not know the settings of a proxy
    proxies: async () => [],
    // the engine keeps all runs of a container in one log
    lastWords: async () => null,
    environment: async () => environmentOf(view),
    async image() {
      const [container] = await own()
      const image = imageOf(
        container?.image ?? found.image,
        settings,
        found.files?.files[0] ?? `container ${container?.name ?? found.service}`,
      )
      if (found.files === null) return image
      return {
        ...image,
        service: found.service,
        files: await Promise.all(found.files.files.map(async (file) => realpath(file).catch(() => file))),
      }
    },
    async machines() {
      if (settings.cpuinfo !== null || (await engine.isHere())) return [await readMachine(settings.cpuinfo)]
      const container = await running()
      if (container) return [await machineOf(view, container)]
      throw new AdminError(
        'UNAVAILABLE',
        `cannot read the processor's flags: ${engine.program} runs on another machine, ` +
          'and the service has no running container',
        [
          command`cat /proc/cpuinfo   # on the machine where ${engine.program} runs. Save the output in a file on this
            machine, and set \`cpuinfo\` in the configuration to that file`,
        ],
        { obstacle: { kind: 'instances' } },
      )
    },
    async drift() {
      const [container] = (await own()).filter(runs)
      const declared = await view.declared()
      if (!container || !declared || !found.files)
        throw new AdminError(
          'NOT_CONFIGURED',
          container
            ? 'the compose file of the service is not on this machine, or this user cannot read it'
            : 'the service has no running container',
        )
      const has = assignmentsIn(container.environment)
      return {
        declaredIn: [...found.files.files, `${found.files.folder}/.env`].join(', '),
        shown: typed([engine.program, 'inspect', '-f', '{{json .Config.Env}}', container.name]),
        settings: differing(await pendingSettings(engine, container, declared), declared.environment, has),
      }
    },
    async resolve(host) {
      const container = await running()
      if (container === null || !isHostName(host)) return null
      const { exitCode } = await engine.ask(['exec', container.name, 'getent', 'hosts', host])
      // getent(1) exits with 2 if the name is unknown; any other code says that it could not be asked
      return exitCode === 0 ? true : exitCode === 2 ? false : null
    },
    async changes() {
      const { clockChanges, fileChanges } = await import('../host/changes.ts')
      const [{ project }, isHere] = await Promise.all([view.containers(), engine.isHere()])
      const clock = isHere ? await clockChanges(options) : { changes: [], unseen: [] }
      const { files } = found
      const paths = files === null ? [] : [...settingsFilesOf(files)!, ...files.environmentFiles]
      return {
        changes: [
          ...project.flatMap((it) => containerChanges(it, engine.program)),
          ...(await fileChanges(paths)),
          ...clock.changes,
        ],
        unseen: clock.unseen,
      }
    },
    composed: async (edited) => composedImage(view, edited),
    definitions: async () =>
      Promise.all(
        (view.found.files?.files ?? []).map(async (name) => ({
          name,
          content: contentOf((await readUpTo(name, mostDefined))?.toString('utf8') ?? null),
        })),
      ),
    hasImage: async (wanted) => hasImage(view, wanted),
    // containers are recreated from what is present; an engine that cannot do so says so at once
    startObstacles: async () => [],
    async startLimit() {
      const [containers, all] = await Promise.all([own(), composeContainers(engine)])
      return startLimitOf(containers, all, engine.program)
    },
    async controllers() {
      // autoheal may belong to another project
      const [containers, all] = await Promise.all([own(), composeContainers(engine)])
      return controllersOf(containers, all, engine.program)
    },
    commands,
    settingsFiles: settingsFilesOf(view.found.files),
  }
}

/** Returns what a compose file says: its data, without comments and anchors; as text if it is not YAML. */
function contentOf(text: string | null): Definition['content'] {
  if (text === null) return `more than ${mostDefined} bytes`
  try {
    const documents = yamlDocuments(text)
    const [first] = documents
    return documents.length === 1 && isObject(first) ? first : { documents }
  } catch (error) {
    if (error instanceof YamlError) return text
    throw error
  }
}

/**
 * Returns the settings that the service has once it is started: those of its files, and those that only its container
 * has. If the files cannot be read, the container's alone. Throws UNAVAILABLE if there is neither.
 */
async function environmentOf(view: View): Promise<ReadonlyMap<string, string | Secret>> {
  const { own } = await view.containers()
  const [container] = own.toSorted((a, b) => Number(runs(b)) - Number(runs(a)))
  const declared = await (container ? declaredOrNull(view) : view.declared())
  if (!container && !declared)
    throw new AdminError(
      'UNAVAILABLE',
      `the service \`${view.found.service}\` has no container, and its compose file cannot be read`,
      [typed([view.engine.program])],
    )
  const has = assignmentsIn(container?.environment ?? [])
  if (container && declared)
    for (const name of await pendingSettings(view.engine, container, declared)) has.delete(name)
  for (const [name, value] of declared?.environment ?? []) if (value !== null) has.set(name, value)
  return new Map([...has].map(([name, value]) => [name, isSecretSetting(name, value) ? new Secret(value) : value]))
}

/** Returns null for files that are no longer valid: they say nothing about what runs. */
async function declaredOrNull(view: View): ReturnType<View['declared']> {
  return view.declared().catch((error: unknown) => {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return null
    throw error
  })
}

function imageOf(image: string, { build }: ComposeSettings, declaredIn: string): ServiceImage {
  const tag = /:([^:/@]+)(?:@.*)?$/s.exec(image)?.[1] ?? null
  const parsed = tag === null ? null : parseBuild(tag)
  return { name: imageNameOf(image) || null, tag, build: build ?? parsed?.label ?? null, declaredIn }
}

async function machineOf({ engine }: View, container: Container): Promise<Machine> {
  const text = await engine.run(['exec', container.name, 'cat', '/proc/cpuinfo'], { maxBytes: 64_000_000 })
  return {
    name: (await engine.machine()) ?? 'the machine of the engine',
    architecture: architectureIn(text),
    processors: parseCpuinfo(text),
    hypervisor: null,
  }
}

/** Returns the health of the service's containers. */
function healthOf(containers: readonly Container[], program: string): ServiceHealth {
  const watched = containers.filter(({ state }) => state.health !== null)
  const unhealthy = watched.filter((it) => runs(it) && it.state.health === 'unhealthy')
  return {
    wanted: watched.length === 0 ? null : watched.length,
    instances: containers.map(instanceOf),
    said: unhealthy.flatMap(({ name, state }) => [
      `${program} inspect -f '{{json .State.Health}}' ${name}`,
      ...(state.healthOutput ?? '').split('\n').filter(Boolean).slice(-3),
    ]),
  }
}

function instanceOf(it: Container): InstanceHealth {
  const { health, startedAt } = it.state
  return {
    name: it.name,
    isUp: runs(it),
    isReady: health === null ? null : runs(it) && health === 'healthy',
    startedAt: runs(it) ? startedAt : null,
    waits: it.state.error === '' ? null : it.state.error,
    ended: endOf(it),
    restarts: it.restarts,
  }
}

/**
 * Returns how the last run ended. A container that runs again keeps when, but not how; `docker restart` is not counted.
 */
function endOf(it: Container): InstanceEnd | null {
  const { status, exitCode, outOfMemory, startedAt, finishedAt } = it.state
  if (runs(it))
    return it.restarts === 0
      ? null
      : { reason: outOfMemory ? 'OOMKilled' : '', exitCode: null, startedAt: null, at: finishedAt }
  if (status === 'created' || (!outOfMemory && status === 'exited' && endedByStop.includes(exitCode))) return null
  return { reason: outOfMemory ? 'OOMKilled' : status === 'dead' ? 'dead' : '', exitCode, startedAt, at: finishedAt }
}

/**
 * Returns the addresses of containers that have a network of their own. `all`: every container that runs on the engine.
 * Another container may use the same network, and `docker exec` may run a program in one: such addresses are shared.
 */
export function originsOf(
  containers: readonly Container[],
  all: readonly RunningContainer[],
): readonly ServiceOrigin[] | null {
  // others use the network of the machine, or of another container, too
  if (containers.some(({ networkMode }) => networkMode === 'host' || /^(?:container|service|ns):/.test(networkMode)))
    return null
  return containers.flatMap(({ id, name, networks }) => {
    const isShared = all.some((it) => (it.id === id ? it.runsPrograms : joins(it, { id, name })))
    return networks.flatMap(({ address }) =>
      address === ''
        ? []
        : [{ instance: name, address, port: null, to: null, ...(isShared && { shared: true as const }) }],
    )
  })
}

/** True if a container uses the network of another. */
function joins({ networkMode }: RunningContainer, { id, name }: Pick<Container, 'id' | 'name'>): boolean {
  const [, other = ''] = /^container:(.+)$/s.exec(networkMode) ?? []
  return (
    other !== '' &&
    (other === name || other.replace(/^\//, '') === name || (/^[0-9a-f]{12,64}$/.test(other) && id.startsWith(other)))
  )
}
