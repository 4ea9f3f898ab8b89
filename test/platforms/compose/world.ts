import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { containerIn } from '../../../src/platforms/compose/containers.ts'
import type { Container } from '../../../src/platforms/compose/containers.ts'
import { openCompose } from '../../../src/platforms/compose/index.ts'
import type { ComposeSettings } from '../../../src/platforms/compose/index.ts'
import type { Platform, PlatformOptions } from '../../../src/platforms/platform.ts'
import { folderWith } from '../../runtime/folder.ts'
import type { EngineState } from './fake-docker.ts'
import { startFakeEngine } from './fake-engine.ts'

const here = dirname(fileURLToPath(import.meta.url))
const fixtures = join(here, '../../fixtures/compose')

type Recorded =
  | 'testops'
  | 'compose-v2'
  | 'podman'
  | 'redis'
  | 'autoheal'
  | 'restarting'
  | 'out-of-memory'
  | 'paused'
  | 'stopped'
  | 'exited'

/** What `docker inspect` gave for it on a real engine. */
export async function recorded(name: Recorded, change: (shown: Shown) => void = () => undefined): Promise<Shown> {
  const shown = JSON.parse(await readFile(join(fixtures, `${name}.json`), 'utf8')) as Shown
  change(shown)
  return shown
}

export async function recordedContainer(name: Recorded, change?: (shown: Shown) => void): Promise<Container> {
  return containerIn(await recorded(name, change))!
}

export interface Shown {
  Id: string
  Name: string
  State: Record<string, unknown>
  ExecIDs?: string[] | null
  Config: { Image: string; Env: string[]; Hostname: string; Labels: Record<string, string> }
  HostConfig: { RestartPolicy: { Name: string }; NetworkMode: string; ExtraHosts: string[] | null }
  NetworkSettings: {
    Networks: Record<string, { IPAddress: string; Aliases: string[] }>
    Ports: Record<string, { HostIp: string; HostPort: string }[] | null>
  }
}

/** The fixture's own compose file and its settings. */
export const projectFiles = async (): Promise<Record<string, string>> => ({
  'project/docker-compose.yml': await readFile(join(fixtures, 'docker-compose.yml'), 'utf8'),
  'project/.env': await readFile(join(fixtures, 'dotenv'), 'utf8'),
})

export interface ComposeWorld {
  folder: string
  options: PlatformOptions
  /** what the engine holds, to be changed */
  state: EngineState
  /** what the program was asked, a command a line */
  asked: readonly string[]
  open(settings?: Partial<ComposeSettings>): Promise<Platform>
}

/**
 * A machine with an engine whose `docker` stands for a real one, and files; `/opt/testops` of the recordings is its
 * folder `project`.
 */
export async function composeWorld(
  given: Partial<EngineState> = {},
  files?: Readonly<Record<string, string>>,
): Promise<ComposeWorld> {
  const folder = await folderWith(files ?? (await projectFiles()))
  const containers = JSON.parse(
    JSON.stringify(given.containers ?? []).replaceAll('/opt/testops', join(folder, 'project')),
  ) as Shown[]
  const state: EngineState = { ...given, containers }
  const { script, asked } = await startFakeEngine(state)
  for (const name of ['project', 'bin']) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'bin/docker'), script, { mode: 0o700 })
  const options = { timeoutMs: 10_000, environment: { PATH: join(folder, 'bin'), DOCKER_HOST: undefined } }
  return {
    folder,
    options,
    state,
    asked,
    open: async (settings = {}) =>
      openCompose(
        {
          project: null,
          file: null,
          service: null,
          build: null,
          cpuinfo: null,
          folder: join(folder, 'elsewhere'),
          ...settings,
        },
        options,
      ),
  }
}
