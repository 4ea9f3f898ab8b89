import { springSettings } from './settings.ts'
import type { SettingNames } from './settings.ts'

/** How the chart has the service's readiness asked (FIELD-NOTES.md 1.1). */
export const chartProbes = {
  /** as long as its startup probe lets a start take: 10 s, then 30 times 10 s */
  startupMs: 310_000,
} as const

/**
 * Keys of the chart's values, below the chart's own key in an umbrella chart (FIELD-NOTES.md 1.1: chart `testops`
 * 5.27.2).
 */
export const chartKeys = {
  /**
   * the last part of the image's name (SPEC.md 7); the chart's default is the standard image, and '' means that
   * `image.repository` is all of it
   */
  imageName: ['image', 'imageName'],
  /** the image's tag */
  version: ['version'],
  /**
   * further settings of the service by their names (SPEC.md 7), which stand behind the chart's own, so that the last of
   * two wins
   */
  openSettings: ['env', 'open'],
  /** in place of registry, repository and name, where `imageName` is empty; else the part between registry and name */
  repository: ['image', 'repository'],
  /** life of a Bearer token in seconds: the chart makes the setting of it */
  tokenValiditySeconds: ['bearerTokenExpirationAfter'],
} as const

/** Keys that this chart has, and others hardly: one of them shows whose values a file holds (FIELD-NOTES.md 1.1). */
export const valuesSigns: readonly (readonly string[])[] = [
  ['image', 'imageName'],
  ['instanceFqdn'],
  ['bearerTokenExpirationAfter'],
  ['inactiveUserSessionDuration'],
  ['datasources', 'mainDatasource'],
]

/**
 * The chart's own key for a setting, of which it makes that setting itself: in `env.open` the name would stand there
 * twice (FIELD-NOTES.md 1.1; qameta/testops-deploy-helm-k8s, `_helpers.tpl`). Null: it has none.
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
 * The label by which the chart marks what it makes, and what it says there: its own name and version (FIELD-NOTES.md
 * 1.1).
 */
export const chartLabel = { name: 'chart', value: /^testops-\d/ } as const
