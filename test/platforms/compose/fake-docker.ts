import { hostname, release } from 'node:os'
import { askCompose } from '../../support/compose-program.ts'
import { made, projectIn, running, stopped } from './fake-compose.ts'
import type { Printed } from './fake-logs.ts'
import type { Shown } from './world.ts'

/** What the engine holds, and says beyond its containers. */
export interface EngineState {
  containers: Shown[]
  /** every command fails so */
  failure?: { text: string; code: number }
  withoutCompose?: boolean
  composeVersion?: string
  /** the real program, by its path, which says in place of the fake what files come down to */
  composeProgram?: string
  /** of `up` */
  upHelp?: string
  /** as podman-compose 1.0.3 */
  withoutConfig?: boolean
  imageEnvironment?: readonly string[]
  /** platforms of the images that it has, by their names; absent: it has every one */
  images?: Map<string, string>
  /** what registries have, by name: the platform, or what the engine says in place of fetching it. Absent: nothing */
  registry?: Readonly<Record<string, string | { failure: string; silentMs?: number }>>
  logs?: Readonly<Record<string, { stdout?: string; stderr?: string }>>
  /** what containers print while they are followed */
  printed?: Printed
  /** by the words after the container's name */
  exec?: Readonly<Record<string, { stdout?: string; code?: number }>>
  machine?: string
  /** what runs in a container is run here: its addresses are this machine's */
  isHere?: boolean
  /** what becomes of a container that is stopped or started; it is over when this is */
  starting?: (container: Shown) => Promise<void>
  stopping?: (container: Shown) => Promise<void>
}

export interface Asked {
  words: readonly string[]
  directory: string
  environment: Readonly<Record<string, string>>
  input: string
}

export interface Answered {
  code: number
  stdout: string
  stderr: string
  /** in place of all that: the words from this one on are run as they stand */
  run?: number
}

const said = (stdout: string, code = 0): Answered => ({ code, stdout, stderr: '' })
const failed = (text: string, code = 1): Answered => ({ code, stdout: '', stderr: `${text}\n` })

/** Stands for `docker` with its compose plugin: answers in the shapes that were recorded. */
export async function answer(state: EngineState, asked: Asked): Promise<Answered> {
  if (state.failure) return failed(state.failure.text, state.failure.code)
  const [command = '', ...words] = asked.words
  switch (command) {
    case 'ps':
      return said(ps(state, words))
    case 'inspect':
      return said(JSON.stringify(state.containers.filter((it) => words.includes(it.Id))))
    case 'info':
      return said(
        JSON.stringify({
          Name: state.machine ?? hostname(),
          KernelVersion: release(),
          OSType: 'linux',
          Architecture: 'x86_64',
        }),
      )
    case 'context':
      return said('unix:///var/run/docker.sock\n')
    case 'stop':
      for (const it of state.containers.filter(({ Id }) => words.includes(Id))) await stopped(state, it)
      return said('')
    case 'start':
      for (const it of state.containers.filter(({ Id }) => words.includes(Id))) await running(state, it)
      return said('')
    case 'logs':
      return { code: 0, stdout: '', stderr: '', ...state.logs?.[words.at(-1) ?? ''] }
    case 'exec':
      return exec(state, words)
    case 'image':
      return image(state, words)
    case 'pull':
      return pull(state, words)
    case 'compose':
      return compose(state, { ...asked, words })
    default:
      return failed(`docker: '${command}' is not a docker command.`)
  }
}

function image({ images, imageEnvironment }: EngineState, words: readonly string[]): Answered {
  const name = words.at(-1)!
  const platform = images ? images.get(name) : 'linux/amd64'
  if (platform === undefined)
    return { code: 1, stdout: '[]\n', stderr: `Error response from daemon: No such image: ${name}\n` }
  const [Os, Architecture] = platform.split('/')
  return said(JSON.stringify([{ Config: { Env: imageEnvironment ?? null }, Os, Architecture }]))
}

/** As 26.1.5 without a terminal. */
async function pull({ images, registry = {} }: EngineState, words: readonly string[]): Promise<Answered> {
  const name = words.at(-1)!
  const wanted = words[words.indexOf('--platform') + 1]
  const [, repository = '', tag = ''] = /^(?:[^/]*[.:][^/]*\/)?(.*?)(?::([^:/]*))?$/.exec(name) ?? []
  const has = registry[name] ?? {
    failure: `Error response from daemon: manifest for ${name} not found: manifest unknown: manifest unknown`,
  }
  if (typeof has !== 'string') {
    await new Promise((resolve) => setTimeout(resolve, has.silentMs ?? 0))
    return failed(has.failure)
  }
  images?.set(name, has)
  const begun =
    `${tag}: Pulling from ${repository}\ne5c9d750988c: Pulling fs layer\ne5c9d750988c: Verifying ` +
    `Checksum\ne5c9d750988c: Download complete\ne5c9d750988c: Pull complete\nDigest: ` +
    `sha256:cdcf5c258ee89d038af8e20a95f626d279e20f67e730095c93ef3a106861308d\nStatus: Downloaded newer image for ` +
    `${name}\n`
  if (words.includes('--platform') && wanted !== has) {
    return {
      code: 1,
      stdout: begun,
      stderr:
        `image with reference ${name} was found but does not match the specified platform: wanted ${wanted}, ` +
        `actual: ${has}\n`,
    }
  }
  return said(`${begun}${name}\n`)
}

function ps({ containers }: EngineState, words: readonly string[]): string {
  if (!words.includes('--filter'))
    return containers
      .filter(({ State }) => State['Status'] === 'running' || words.includes('--all'))
      .map(({ Id }) => `${Id}\n`)
      .join('')
  const [, name = '', value] = /^label=([^=]*)(?:=(.*))?$/.exec(words[words.indexOf('--filter') + 1] ?? '') ?? []
  const isMeant = ({ Config: { Labels } }: Shown): boolean =>
    value === undefined ? Labels[name] !== undefined : Labels[name] === value
  return containers
    .filter(isMeant)
    .map(({ Id }) => `${Id}\n`)
    .join('')
}

function exec(state: EngineState, words: readonly string[]): Answered {
  const isInteractive = words[0] === '--interactive'
  const [name, ...rest] = isInteractive ? words.slice(1) : words
  const container = state.containers.find((it) => it.Name === `/${name}`)
  if (container?.State['Status'] !== 'running')
    return failed(`Error response from daemon: Container ${name} is not running`)
  if (state.isHere) return { ...said(''), run: words.length - rest.length + 1 }
  const given = state.exec?.[rest.join(' ')]
  if (given) return said(given.stdout ?? '', given.code)
  return failed(
    'OCI runtime exec failed: exec failed: unable to start container process: executable file not found in ' +
      '$PATH: unknown',
    126,
  )
}

/** Of `docker compose up --help`, 2.26.1. */
const upHelp =
  '      --pull string               Pull image before running\n                                  ' +
  '("always"|"missing"|"never") (default\n                                  "policy")\n'

async function compose(state: EngineState, { words, directory, environment, input }: Asked): Promise<Answered> {
  if (state.withoutCompose) return failed("docker: 'compose' is not a docker command.")
  if (words[0] === 'version') return said(state.composeVersion ?? 'Docker Compose version 2.26.1\n')
  if (state.withoutConfig)
    return failed(
      "podman-compose: error: argument command: invalid choice: 'config' (choose from 'help', 'version', 'up')",
      2,
    )
  if (words.includes('--help')) return said(state.upHelp ?? upHelp)
  const all = (flag: string): string[] => words.flatMap((it, index) => (it === flag ? [words[index + 1]!] : []))
  if (state.composeProgram !== undefined && words.includes('config'))
    return askCompose(state.composeProgram, words, { directory, environment, input })
  const project = projectIn({
    files: all('--file'),
    name: all('--project-name')[0],
    folder: all('--project-directory')[0],
    environmentFiles: all('--env-file'),
    directory,
    environment,
    input,
  })
  if ('reason' in project) return failed(`yaml: ${project.reason}`)
  if (words.includes('config'))
    return said(JSON.stringify({ name: project.name, services: project.services }).replaceAll('$', '$$$$'))
  if (words.includes('up')) await made(state, words.at(-1)!, project)
  return said('')
}
