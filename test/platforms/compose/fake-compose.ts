import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { load } from 'js-yaml'
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
  environment: Readonly<Record<string, string | null>>
}

interface Project {
  name: string | undefined
  services: Readonly<Record<string, Service>>
  files: readonly string[]
  folder: string
}

type Environment = Record<string, string | null> | readonly string[] | null | undefined

/** What the compose program makes of a project's files; or why it does not. */
export function projectIn({ files, name, folder, environmentFiles, directory, environment, input }: Given): Project | { reason: string } {
  const base = folder ?? dirname(resolve(directory, files[0]!))
  const settings = Object.assign({}, ...(environmentFiles.length > 0 ? environmentFiles : [join(base, '.env')]).map(dotenv)) as Record<string, string>
  const services: Record<string, Service> = {}
  for (const file of files) {
    const text = file === '-' ? input : readFileSync(resolve(directory, file), 'utf8')
    try {
      const parsed = load(interpolated(text, { ...settings, ...environment })) as { services?: Record<string, Service & { env_file?: string | string[]; environment?: Environment }> } | null
      for (const [service, { env_file = [], environment: own, ...others }] of Object.entries(parsed?.services ?? {})) {
        const fromFiles = Object.assign({}, ...[env_file].flat().map((path) => dotenv(resolve(base, path)))) as Record<string, string>
        services[service] = { ...services[service], ...others, environment: { ...services[service]?.environment, ...fromFiles, ...asMap(own) } }
      }
    } catch (error) {
      return { reason: (error as { reason?: string }).reason ?? String(error) }
    }
  }
  return { name, services, files, folder: base }
}

function interpolated(text: string, settings: Readonly<Record<string, string>>): string {
  const value = (name: string, fallback = ''): string => settings[name] ?? fallback
  return text.replace(/\$\$|\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)/g, (found: string, braced?: string, fallback?: string, bare?: string) =>
    found === '$$' ? '$' : value(braced ?? bare ?? '', fallback),
  )
}

function asMap(environment: Environment): Record<string, string | null> {
  if (!Array.isArray(environment)) return Object.fromEntries(Object.entries(environment ?? {}).map(([name, it]) => [name, it === null ? null : String(it)]))
  return Object.fromEntries((environment as readonly string[]).map((it) => (it.includes('=') ? [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)] : [it, null])))
}

function dotenv(path: string): Record<string, string> {
  if (!existsSync(path)) return {}
  const lines = readFileSync(path, 'utf8').split(/\r?\n/).filter((it) => /^\w+=/.test(it))
  return Object.fromEntries(lines.map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1).replace(/^"(.*)"$/, '$1')]))
}

export async function stopped(state: EngineState, container: Shown): Promise<void> {
  await state.stopping?.(container)
  container.State = { ...container.State, Status: 'exited', Running: false, Pid: 0, ExitCode: 143, FinishedAt: new Date().toISOString() }
}

export async function running(state: EngineState, container: Shown): Promise<void> {
  container.State = { ...container.State, Status: 'running', Running: true, Pid: 0, ExitCode: 0, StartedAt: new Date().toISOString() }
  await state.starting?.(container)
}

let count = 0

/** A container of a service as its files declare it, in place of the one that there is. */
export async function made(state: EngineState, service: string, { name, services, files, folder }: Project): Promise<void> {
  const declared = services[service]
  const labels = { 'com.docker.compose.project': name ?? '', 'com.docker.compose.service': service, 'com.docker.compose.project.working_dir': folder, 'com.docker.compose.project.config_files': files.join(',') }
  const old = state.containers.find(({ Config: { Labels } }) => Labels['com.docker.compose.project'] === name && Labels['com.docker.compose.service'] === service)
  if (old && old.State['Status'] === 'running') await stopped(state, old)
  const Id = `${(count += 1)}`.padStart(64, 'a')
  const own = Object.entries(declared?.environment ?? {}).flatMap(([key, value]) => (value === null ? [] : [`${key}=${value}`]))
  const container: Shown = {
    Id,
    Name: old?.Name ?? `/${name}-${service}-1`,
    State: {},
    Config: { Image: declared?.image ?? '', Hostname: Id.slice(0, 12), Env: [...(state.imageEnvironment ?? []), ...own], Labels: { ...old?.Config.Labels, ...labels } },
    HostConfig: old?.HostConfig ?? { RestartPolicy: { Name: '' }, NetworkMode: 'none', ExtraHosts: null },
    NetworkSettings: old?.NetworkSettings ?? { Networks: {}, Ports: {} },
  }
  state.containers = [...state.containers.filter((it) => it !== old), container]
  await running(state, container)
}
