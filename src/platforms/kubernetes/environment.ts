import { filesSource } from '../../adapters/settings-file/index.ts'
import { sharedAnswers } from '../../core/answers.ts'
import { PartialSettings } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { suggestNearest } from '../../core/nearest.ts'
import { own } from '../../core/lookup.ts'
import { Secret, UnreadableSecret } from '../../core/secret.ts'
import type { DriftingSetting, ServiceImage } from '../../core/sources.ts'
import { chartKeys } from '../../knowledge/chart.ts'
import { isSecretSetting, settingNames, vendorIn } from '../../knowledge/settings.ts'
import { differing } from '../drift.ts'
import type { PlatformOptions } from '../platform.ts'
import type { KubernetesSettings } from './access.ts'
import type { KubernetesClient } from './client.ts'
import { openClient } from './client.ts'
import type { ConfigMap, Container, EnvVar, Secret as SecretObject } from './objects.ts'
import { isRefusal } from './refusal.ts'

type Settings = ReadonlyMap<string, string | Secret>

/** Values of an object by their keys; an error if it cannot be read; null if it is missing. */
type Values = ReadonlyMap<string, string | Secret> | AdminError | null

/**
 * Reads the environment that a container is started with: `envFrom` first, then `env`, whose last entry of a name wins.
 * Reads each Secret and ConfigMap once. A value that a missing right hides is a Secret that throws FORBIDDEN when it is
 * revealed. If the right hides an object that `envFrom` names, returns `PartialSettings`. Leaves out fields of the pod
 * (`fieldRef`). Throws as the client does.
 */
export async function environmentOf(
  client: KubernetesClient,
  namespace: string,
  { env = [], envFrom = [] }: Container,
): Promise<Settings> {
  const objects = sharedAnswers({ keep: 'everything' })
  const read = async (kind: 'secrets' | 'configmaps', name: string): Promise<Values> =>
    objects.to(`${kind}/${name}`, async () => valuesOf(client, namespace, kind, name))
  const sources = envFrom.flatMap(({ prefix = '', secretRef, configMapRef }) => [
    ...(secretRef?.name ? [{ prefix, values: read('secrets', secretRef.name) }] : []),
    ...(configMapRef?.name ? [{ prefix, values: read('configmaps', configMapRef.name) }] : []),
  ])
  const entries = env.map(({ name, value, valueFrom }) => ({
    name,
    isPlain: !valueFrom,
    value: valueFrom ? referred(name, valueFrom, read) : (value ?? ''),
  }))

  const all = new Map<string, string | Secret>()
  let missing: AdminError | null = null
  for (const { prefix, values } of sources) {
    const found = await values
    if (found instanceof AdminError) missing = partly(found)
    else for (const [key, value] of found ?? []) all.set(`${prefix}${key}`, kept(`${prefix}${key}`, value))
  }
  for (const { name, isPlain, value } of entries) {
    const found = await value
    if (found !== null) all.set(name, kept(name, isPlain ? expanded(found, all) : found))
  }
  return missing === null ? all : new PartialSettings(all, missing)
}

async function referred(
  name: string,
  { secretKeyRef, configMapKeyRef }: NonNullable<EnvVar['valueFrom']>,
  read: (kind: 'secrets' | 'configmaps', name: string) => Promise<Values>,
): Promise<string | Secret | null> {
  if (secretKeyRef?.name) return valueAt(await read('secrets', secretKeyRef.name), secretKeyRef.key, name)
  if (configMapKeyRef?.name) return valueAt(await read('configmaps', configMapKeyRef.name), configMapKeyRef.key, name)
  return null
}

/**
 * Expands `$(NAME)` to what was set before it, and `$$` to a dollar sign, in what the pod's template itself says (API
 * reference, `EnvVar`).
 */
function expanded(value: string | Secret, before: Settings): string | Secret {
  if (typeof value !== 'string' || !value.includes('$')) return value
  let isSecret = false
  const text = value.replace(/\$\$|\$\(([A-Za-z_][\w.-]*)\)/g, (all, name?: string) => {
    if (name === undefined) return '$'
    const known = before.get(name)
    if (known === undefined) return all
    if (typeof known === 'string') return known
    isSecret = true
    return known instanceof UnreadableSecret ? all : known.reveal()
  })
  // its parts are already known as secrets, where they are secret
  return isSecret ? new Secret(text, { mayAppear: true }) : text
}

/** Returns a Secret's value. A Secret may hold hosts and users too: these may appear where the program names them. */
function namedSecret(key: string, value: string): Secret {
  return new Secret(value, { mayAppear: !isSecretSetting(key.replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2'), value) })
}

function kept(name: string, value: string | Secret): string | Secret {
  return typeof value === 'string' && isSecretSetting(name, value) ? new Secret(value) : value
}

function valueAt(values: Values, key: string, name: string): string | Secret | null {
  if (values instanceof AdminError) return new UnreadableSecret(unreadable(name, values))
  const value = values?.get(key) ?? null
  // the setting's name may show that it is secret where the Secret's key does not
  return value instanceof Secret && isSecretSetting(name, '') ? new Secret(value.reveal()) : value
}

function unreadable(name: string, { code, message, suggestions }: AdminError): AdminError {
  return new AdminError(code, `the service's setting \`${name}\` cannot be read: ${message}`, suggestions, {
    obstacle: { kind: 'settings' },
  })
}

function partly({ code, message, suggestions }: AdminError): AdminError {
  return new AdminError(code, `some settings of the service cannot be read: ${message}`, suggestions, {
    obstacle: { kind: 'settings' },
  })
}

async function valuesOf(
  client: KubernetesClient,
  namespace: string,
  kind: 'secrets' | 'configmaps',
  name: string,
): Promise<Values> {
  try {
    const asked = { resource: kind, namespace, name } as const
    if (kind === 'configmaps') return new Map(Object.entries((await client.get<ConfigMap>(asked)).data ?? {}))
    const { data = {} } = await client.get<SecretObject>(asked)
    return new Map(
      Object.entries(data).map(([key, value]) => [key, namedSecret(key, Buffer.from(value, 'base64').toString())]),
    )
  } catch (error) {
    // a missing object does not matter here: a pod that requires it would not start
    if (isRefusal(error, 404)) return null
    if (isRefusal(error, 403)) return error
    throw error
  }
}

/**
 * Finds what the values file states differently from the pod template: settings of its own by their names, and the
 * image by its keys. Does not compare what the file leaves to the chart. Throws NOT_CONFIGURED if no file is named, and
 * as `FilesSource`.
 */
export async function driftFrom(
  values: KubernetesSettings['values'],
  runs: ReadonlyMap<string, string | Secret>,
  image: ServiceImage,
): Promise<DriftingSetting[]> {
  if (!values)
    throw new AdminError('NOT_CONFIGURED', 'no values file of the release is configured: set `kubernetes.values`')
  const { file, path } = values
  const files = filesSource()
  const textAt = async (keys: readonly string[]): Promise<string | null> => {
    const { text } = await files.look(file, [...path, ...keys])
    // a template's value is known only once it is filled in
    return text?.includes('{{') ? null : text
  }
  const own = await files.keys(file, [...path, ...chartKeys.openSettings])
  const declared = new Map<string, string | null>()
  for (const name of own) declared.set(name, await textAt([...chartKeys.openSettings, name]))
  const { tokenValiditySeconds } = settingNames(vendorIn(runs.keys()))
  if (!declared.has(tokenValiditySeconds))
    declared.set(tokenValiditySeconds, await textAt(chartKeys.tokenValiditySeconds))
  const ofImage = new Map([
    [chartKeys.imageName.join('.'), [await textAt(chartKeys.imageName), image.name]],
    [chartKeys.version.join('.'), [await textAt(chartKeys.version), image.tag]],
  ] as const)
  const stated = (all: ReadonlyMap<string, string | null>): string[] =>
    [...all].flatMap(([name, value]) => (value === null || value === '' ? [] : [name]))
  const meant = new Map([...ofImage].map(([name, [value]]) => [name, value]))
  const is = new Map([...ofImage].map(([name, [, value]]) => [name, value]))
  return [
    ...differing(stated(declared), declared, runs, readsAlike),
    ...differing(stated(meant), meant, is, readsAlike),
  ]
}

/** True if Helm passes both on alike: it reads numbers and booleans as YAML, so that 5.30 becomes 5.3, and yes true. */
function readsAlike(one: string, other: string): boolean {
  if (one.trim() !== '' && Number(one) === Number(other)) return true
  const truth = (text: string): string =>
    text
      .toLowerCase()
      .replace(/^(?:yes|on)$/, 'true')
      .replace(/^(?:no|off)$/, 'false')
  return truth(one) === truth(other)
}

/**
 * Reads one key of a Secret of the cluster. `reference` is NAME/KEY, in the configured namespace or the context's, or
 * NAMESPACE/NAME/KEY. Throws UNAVAILABLE if it is missing, and as the client does.
 */
export async function readClusterSecret(
  reference: string,
  settings: KubernetesSettings,
  options: PlatformOptions,
): Promise<Secret> {
  const [key = '', name = '', namespace] = reference.split('/').reverse()
  const client = await openClient(settings, options)
  try {
    const place = namespace ?? settings.namespace ?? client.namespace
    const { data = {} } = await client.get<SecretObject>({ resource: 'secrets', namespace: place, name })
    const value = own(data, key)
    if (value !== undefined) return new Secret(Buffer.from(value, 'base64').toString())
    const near = suggestNearest(key, Object.keys(data))
    throw new AdminError(
      'UNAVAILABLE',
      `the Secret \`${name}\` in namespace \`${place}\` of ${client.cluster} has no key \`${key}\``,
      [...(near === undefined ? [] : [near]), client.kubectl('-n', place, 'describe', 'secret', name)],
    )
  } finally {
    client.close()
  }
}
