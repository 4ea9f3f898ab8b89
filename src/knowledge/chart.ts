import type { ShellCommand } from '../core/shell-command.ts'
import { sentence } from '../core/shell-command.ts'
import type { SettingNames } from './settings.ts'
import { springSettings } from './settings.ts'

/** How the chart has the service's readiness checked (FIELD-NOTES.md 1.1). */
export const chartProbes = {
  /** Milliseconds that its startup probe allows for a start: 10 s, then 30 times 10 s */
  startupMs: 310_000,
} as const

/**
 * Keys of the chart's values, below the chart's own key in an umbrella chart (FIELD-NOTES.md 1.1: chart `testops`
 * 5.27.2).
 */
export const chartKeys = {
  /**
   * Last part of the image's name (SPEC.md 7). The chart's default is the standard image; '' means that
   * `image.repository` is all of it
   */
  imageName: ['image', 'imageName'],
  /** Tag of the image */
  version: ['version'],
  /**
   * Further settings of the service by their names (SPEC.md 7). They come after the chart's own, and the last of two
   * wins
   */
  openSettings: ['env', 'open'],
  /** Replaces registry, repository and name if `imageName` is empty; otherwise the part between registry and name */
  repository: ['image', 'repository'],
  /** Life of a Bearer token in seconds, from which the chart makes the setting */
  tokenValiditySeconds: ['bearerTokenExpirationAfter'],
} as const

/** Keys that this chart has, but hardly any other: one shows whose values a file contains (FIELD-NOTES.md 1.1). */
export const valuesSigns: readonly (readonly string[])[] = [
  ['image', 'imageName'],
  ['instanceFqdn'],
  ['bearerTokenExpirationAfter'],
  ['inactiveUserSessionDuration'],
  ['datasources', 'mainDatasource'],
]

/**
 * Returns the chart's own key for a setting that the chart itself makes; null if it has none. In `env.open`, the name
 * would appear twice (FIELD-NOTES.md 1.1; qameta/testops-deploy-helm-k8s, `_helpers.tpl`).
 */
export function ownKeyOf(
  name: string,
  {
    tokenValiditySeconds,
    redisSessionTtl,
    redisNamespace,
  }: Pick<SettingNames, 'tokenValiditySeconds' | 'redisSessionTtl' | 'redisNamespace'>,
): readonly string[] | null {
  switch (name) {
    case tokenValiditySeconds:
      return chartKeys.tokenValiditySeconds
    case redisSessionTtl:
      return ['inactiveUserSessionDuration']
    case redisNamespace:
      return ['redis', 'namespace']
    case springSettings.timeZone:
      return ['timeZone']
    default:
      return null
  }
}

/** The chart's name for the service's container: `<release>-testops` (FIELD-NOTES.md 1.1). */
export const chartContainer = /(?:^|-)testops$/

/**
 * The label by which the chart marks what it creates, with its own name and version as the value (FIELD-NOTES.md 1.1).
 */
export const chartLabel = { name: 'chart', value: /^testops-\d/ } as const

/** Where the chart's values hold further variables of the service, as text (SPEC.md 7; FIELD-NOTES.md 1.1). */
export const valuesKey = 'env.open'

/** An object of a cluster that holds values of a chart. */
interface ValuesManifest {
  /** Who makes the release from it */
  keeper: string
  /** Where they lie, the one that counts most first */
  places: readonly (readonly string[])[]
  /** What counts more than all of these */
  above: readonly (readonly string[])[]
}

const manifests: readonly (ValuesManifest & { group: string; kind: string })[] = [
  // fluxcd.io, "Helm Releases": inline values take precedence over `valuesFrom`, and patches over the result
  {
    group: 'helm.toolkit.fluxcd.io',
    kind: 'HelmRelease',
    keeper: 'Flux',
    places: [['spec', 'values']],
    above: [['spec', 'postRenderers']],
  },
  // argo-cd.readthedocs.io, "Helm": parameters > valuesObject > values > valueFiles
  {
    group: 'argoproj.io',
    kind: 'Application',
    keeper: 'Argo CD',
    places: [
      ['spec', 'source', 'helm', 'valuesObject'],
      ['spec', 'source', 'helm', 'values'],
    ],
    above: [
      ['spec', 'sources'],
      ['spec', 'source', 'helm', 'parameters'],
      ['spec', 'source', 'helm', 'fileParameters'],
      ['spec', 'source', 'kustomize'],
    ],
  },
]

/** Returns where an object's values lie; null if it is not known to contain any. */
export function manifestOf(apiVersion: string, kind: string): ValuesManifest | null {
  return manifests.find((it) => it.kind === kind && apiVersion.startsWith(`${it.group}/`)) ?? null
}

/** Returns a hint, for people, to put values at a path. */
export function valuesAt(path: readonly string[]): ShellCommand {
  return sentence`or put them under ${path.join('.')} first`
}
