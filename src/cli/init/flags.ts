import { resolve } from 'node:path'
import { Flags } from '@oclif/core'
import type { PlatformName } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { Draft } from '../../runtime/index.ts'
import { typed } from '../../core/typed.ts'

const secretHelp = 'env:NAME|file:PATH'

export const initFlags = {
  platform: Flags.option({ options: ['kubernetes', 'compose', 'host'] as const, summary: 'where the service runs; found where it is left out' })(),
  name: Flags.string({ summary: 'name of the deployment in the configuration', helpValue: 'NAME' }),
  output: Flags.string({ summary: 'file to write', helpValue: 'FILE', default: 'testops-admin.yaml' }),
  url: Flags.string({ summary: 'address of the web interface', helpValue: 'URL' }),
  'api-token': Flags.string({ summary: 'where the API token is kept', helpValue: secretHelp }),
  unit: Flags.string({ summary: 'systemd unit of the service', helpValue: 'UNIT' }),
  'environment-file': Flags.string({ summary: "file with the service's settings", helpValue: 'FILE' }),
  'log-file': Flags.string({ summary: "file that the service's log is written to", helpValue: 'FILE' }),
  'compose-project': Flags.string({ summary: 'name of the compose project', helpValue: 'NAME' }),
  'compose-file': Flags.string({ summary: 'its file', helpValue: 'FILE' }),
  'compose-service': Flags.string({ summary: "the service's name in it", helpValue: 'NAME' }),
  context: Flags.string({ summary: 'context of kubectl', helpValue: 'NAME' }),
  namespace: Flags.string({ summary: 'namespace of the service', helpValue: 'NAME' }),
  release: Flags.string({ summary: 'release of Helm', helpValue: 'NAME' }),
  'database-url': Flags.string({ summary: 'address of the database, without a password', helpValue: 'URL' }),
  'database-password': Flags.string({ summary: 'where its password is kept', helpValue: secretHelp }),
  'broker-url': Flags.string({ summary: 'address of the broker, without a password', helpValue: 'URL' }),
  'broker-password': Flags.string({ summary: 'where its password is kept', helpValue: secretHelp }),
  'sessions-url': Flags.string({ summary: 'address of the session store, without a password', helpValue: 'URL' }),
  'sessions-password': Flags.string({ summary: 'where its password is kept', helpValue: secretHelp }),
}

export interface InitFlags {
  json: boolean
  timeout?: number | undefined
  platform?: PlatformName | undefined
  name?: string | undefined
  /** of those that were found */
  deployment?: string | undefined
  output: string
  [flag: string]: string | number | boolean | undefined
}

/** Keys of a deployment's section, each within the one before. */
export type Path = readonly [string, ...string[]]

/** Where each flag goes in a deployment's section; files and secrets are meant from where the command is typed. */
const places: readonly (readonly [flag: string, path: Path, kind: 'text' | 'file' | 'secret'])[] = [
  ['url', ['url'], 'text'],
  ['api-token', ['apiToken'], 'secret'],
  ['unit', ['host', 'unit'], 'text'],
  ['environment-file', ['host', 'environmentFile'], 'file'],
  ['log-file', ['host', 'logs', 'file'], 'file'],
  ['compose-project', ['compose', 'project'], 'text'],
  ['compose-file', ['compose', 'file'], 'file'],
  ['compose-service', ['compose', 'service'], 'text'],
  ['context', ['kubernetes', 'context'], 'text'],
  ['namespace', ['kubernetes', 'namespace'], 'text'],
  ['release', ['kubernetes', 'release'], 'text'],
  ['database-url', ['database', 'url'], 'text'],
  ['database-password', ['database', 'password'], 'secret'],
  ['broker-url', ['broker', 'url'], 'text'],
  ['broker-password', ['broker', 'password'], 'secret'],
  ['sessions-url', ['sessions', 'url'], 'text'],
  ['sessions-password', ['sessions', 'password'], 'secret'],
]

/** What the flags say of the deployment, laid over what was found. Throws USAGE. */
export function withFlags(draft: Draft, flags: InitFlags, directory: string): Draft {
  return places.reduce((all, [flag, path, kind]) => {
    const value = flags[flag]
    if (typeof value !== 'string') return all
    return withValue(all, path, kind === 'secret' ? secretAt(value, `--${flag}`, directory) : kind === 'file' ? resolve(directory, value) : value)
  }, draft)
}

const platforms: readonly PlatformName[] = ['kubernetes', 'compose', 'host']

/** Whether a flag says where the service runs, so that nothing has to be looked for. */
export function namesPlace(flags: InitFlags): boolean {
  return placesIn(flags).length > 0
}

/** The platform that is named, or that a flag is for. Throws USAGE for flags of two. */
export function platformIn(flags: InitFlags): PlatformName | undefined {
  const [first, ...others] = [...(flags.platform === undefined ? [] : [{ flag: `platform ${flags.platform}`, platform: flags.platform }]), ...placesIn(flags)]
  const other = others.find(({ platform }) => platform !== first?.platform)
  if (first && other) throw new AdminError('USAGE', `--${other.flag} is for platform \`${other.platform}\`, and --${first.flag} for \`${first.platform}\`: a deployment is on one`, ['testops-admin init --help'])
  return first?.platform
}

function placesIn(flags: InitFlags): { flag: string; platform: PlatformName }[] {
  return places.flatMap(([flag, [section]]) => platforms.filter((it) => it === section && flags[flag] !== undefined).map((platform) => ({ flag, platform })))
}

export function withValue(draft: Draft, [key, ...rest]: Path, value: string | Draft): Draft {
  const [next, ...further] = rest
  if (next === undefined) return { ...draft, [key]: value }
  const inner = draft[key]
  return { ...draft, [key]: withValue(typeof inner === 'object' ? inner : {}, [next, ...further], value) }
}

/** `env:NAME` or `file:PATH`. Throws USAGE, which never repeats what was given: it may be the secret itself. */
export function secretAt(text: string, what: string, directory: string): Draft {
  const [, form, place = ''] = /^(env|file):(.+)$/.exec(text) ?? []
  if (form === 'env' && /^[A-Za-z_]\w*$/.test(place)) return { env: place }
  if (form === 'file') return { file: resolve(directory, place) }
  throw new AdminError('USAGE', `${what} names where the secret is kept, and never the secret itself: env:NAME or file:PATH`, [typed([what, 'env:NAME']), typed([what, 'file:PATH'])])
}
