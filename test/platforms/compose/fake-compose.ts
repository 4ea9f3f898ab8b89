import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { load } from 'js-yaml'
import { yaml11 } from '../../../src/adapters/yaml/index.ts'
import type { EngineState } from './fake-docker.ts'
import type { Shown } from './world.ts'

interface Given {
  files: readonly string[]
  name: string | undefined
  folder: string | undefined
  environmentFiles: readonly string[]
  directory: string
  /** of the shell */
  environment: Readonly<Record<string, string>>
  input: string
}

interface Service {
  image?: string
  profiles?: readonly string[]
  environment: Readonly<Record<string, string | null>>
}

interface Project {
  name: string | undefined
  services: Readonly<Record<string, Service>>
  files: readonly string[]
  folder: string
}

type Environment = Record<string, string | null> | readonly string[] | null | undefined

/** As a file has it, interpolated. */
interface Written extends Omit<Service, 'environment'> {
  environment?: Environment
  env_file?: string | (string | { path: string })[]
  extends?: { service: string; file?: string }
}

interface File {
  services?: Record<string, Written>
  include?: (string | { path: string | string[]; project_directory?: string })[]
}

/** What the compose program makes of a project's files; or why it does not. */
export function projectIn({
  files,
  name,
  folder,
  environmentFiles,
  directory,
  environment,
  input,
}: Given): Project | { reason: string } {
  const base = folder ?? dirname(resolve(directory, files[0]!))
  const settings = Object.assign(
    {},
    ...(environmentFiles.length > 0 ? environmentFiles : [join(base, '.env')]).map(dotenv),
  ) as Record<string, string>
  try {
    const services = servicesIn(
      files.map((file) => (file === '-' ? { text: input } : resolve(directory, file))),
      base,
      { ...settings, ...environment },
    )
    const active = [environment['COMPOSE_PROFILES'] ?? settings['COMPOSE_PROFILES'] ?? ''].flatMap((it) =>
      it.split(','),
    )
    const isActive = ([, { profiles = [] }]: [string, Service]): boolean =>
      profiles.length === 0 || active.includes('*') || profiles.some((it) => active.includes(it))
    return { name, services: Object.fromEntries(Object.entries(services).filter(isActive)), files, folder: base }
  } catch (error) {
    return { reason: (error as { reason?: string }).reason ?? String(error) }
  }
}

function servicesIn(
  files: readonly (string | { text: string })[],
  base: string,
  settings: Readonly<Record<string, string>>,
): Record<string, Service> {
  const services: Record<string, Service> = {}
  for (const file of files) {
    const parsed = fileIn(file, settings)
    for (const entry of parsed.include ?? []) {
      const { path, project_directory } = typeof entry === 'string' ? { path: entry } : entry
      const included = [path].flat().map((it) => resolve(base, it))
      const within = project_directory === undefined ? dirname(included[0]!) : resolve(base, project_directory)
      Object.assign(services, servicesIn(included, within, { ...dotenv(join(within, '.env')), ...settings }))
    }
    for (const service of Object.keys(parsed.services ?? {})) {
      const { environment, ...others } = extended(parsed, service, file, base, settings)
      services[service] = {
        ...services[service],
        ...others,
        environment: { ...services[service]?.environment, ...environment },
      }
    }
  }
  return services
}

function extended(
  parsed: File,
  name: string,
  file: string | { text: string },
  base: string,
  settings: Readonly<Record<string, string>>,
): Service {
  const { env_file = [], environment: own, extends: of, ...others } = parsed.services?.[name] ?? {}
  // docker-compose 1.29, of what is on its standard input
  if (of?.file !== undefined && typeof file !== 'string')
    throw Object.assign(new Error(), { reason: 'TypeError: expected str, bytes or os.PathLike object, not NoneType' })
  const from = of?.file === undefined ? file : resolve(base, of.file)
  const below =
    of &&
    extended(
      from === file ? parsed : fileIn(from, settings),
      of.service,
      from,
      from === file ? base : dirname(from as string),
      settings,
    )
  const fromFiles = Object.assign(
    {},
    ...[env_file].flat().map((it) => dotenv(resolve(base, typeof it === 'string' ? it : it.path))),
  ) as Record<string, string>
  return { ...below, ...others, environment: { ...fromFiles, ...below?.environment, ...asMap(own) } }
}

function fileIn(file: string | { text: string }, settings: Readonly<Record<string, string>>): File {
  const text = typeof file === 'string' ? readFileSync(file, 'utf8') : file.text
  return load(interpolated(text, settings), { schema: yaml11 }) ?? {}
}

function interpolated(text: string, settings: Readonly<Record<string, string>>): string {
  const value = (name: string, fallback = ''): string => settings[name] ?? fallback
  return text.replace(
    /\$\$|\$\{(\w+)(?::?-([^}]*)|:?\?[^}]*)?\}|\$(\w+)/g,
    (found: string, braced?: string, fallback?: string, bare?: string) =>
      found === '$$' ? '$' : value(braced ?? bare ?? '', fallback),
  )
}

function asMap(environment: Environment): Record<string, string | null> {
  if (!Array.isArray(environment))
    return Object.fromEntries(
      Object.entries(environment ?? {}).map(([name, it]) => [name, it === null ? null : String(it)]),
    )
  return Object.fromEntries(
    (environment as readonly string[]).map((it) =>
      it.includes('=') ? [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)] : [it, null],
    ),
  )
}

function dotenv(path: string): Record<string, string> {
  if (!existsSync(path)) return {}
  const lines = readFileSync(path, 'utf8')
    .split(/\r?\n/)
    .filter((it) => /^\w+=/.test(it))
  return Object.fromEntries(
    lines.map((it) => [
      it.slice(0, it.indexOf('=')),
      it
        .slice(it.indexOf('=') + 1)
        .replace(/[ \t]+#.*$/, '')
        .replace(/^"(.*)"$/, '$1'),
    ]),
  )
}

export async function stopped(state: EngineState, container: Shown): Promise<void> {
  await state.stopping?.(container)
  container.State = {
    ...container.State,
    Status: 'exited',
    Running: false,
    Pid: 0,
    ExitCode: 143,
    FinishedAt: new Date().toISOString(),
  }
}

export async function running(state: EngineState, container: Shown): Promise<void> {
  container.State = {
    ...container.State,
    Status: 'running',
    Running: true,
    Pid: 0,
    ExitCode: 0,
    StartedAt: new Date().toISOString(),
  }
  await state.starting?.(container)
}

let count = 0

/** A container of a service as its files declare it, in place of the one that there is. */
export async function made(
  state: EngineState,
  service: string,
  { name, services, files, folder }: Project,
): Promise<void> {
  const declared = services[service]
  const labels = {
    'com.docker.compose.project': name ?? '',
    'com.docker.compose.service': service,
    'com.docker.compose.project.working_dir': folder,
    'com.docker.compose.project.config_files': files.join(','),
  }
  const old = state.containers.find(
    ({ Config: { Labels } }) =>
      Labels['com.docker.compose.project'] === name && Labels['com.docker.compose.service'] === service,
  )
  if (old && old.State['Status'] === 'running') await stopped(state, old)
  const Id = `${(count += 1)}`.padStart(64, 'a')
  const own = Object.entries(declared?.environment ?? {}).flatMap(([key, value]) =>
    value === null ? [] : [`${key}=${value}`],
  )
  const container: Shown = {
    Id,
    Name: old?.Name ?? `/${name}-${service}-1`,
    State: {},
    Config: {
      Image: declared?.image ?? '',
      Hostname: Id.slice(0, 12),
      Env: [...(state.imageEnvironment ?? []), ...own],
      Labels: { ...old?.Config.Labels, ...labels },
    },
    HostConfig: old?.HostConfig ?? { RestartPolicy: { Name: '' }, NetworkMode: 'none', ExtraHosts: null },
    NetworkSettings: old?.NetworkSettings ?? { Networks: {}, Ports: {} },
  }
  state.containers = [...state.containers.filter((it) => it !== old), container]
  await running(state, container)
}
