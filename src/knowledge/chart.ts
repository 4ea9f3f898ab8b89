/** How the chart has the service's readiness asked (FIELD-NOTES.md 1.1). */
export const chartProbes = {
  /** as long as its startup probe lets a start take: 10 s, then 30 times 10 s */
  startupMs: 310_000,
} as const

/** Keys of the chart's values, below the chart's own key in an umbrella chart (FIELD-NOTES.md 1.1: chart `testops` 5.27.2). */
export const chartKeys = {
  /** the last part of the image's name (SPEC.md 7); the chart's default is the standard image, and '' means that `image.repository` is all of it */
  imageName: ['image', 'imageName'],
  /** the image's tag */
  version: ['version'],
  /** further settings of the service by their names (SPEC.md 7), which stand behind the chart's own, so that the last of two wins */
  openSettings: ['env', 'open'],
  /** life of a Bearer token in seconds: the chart makes the setting of it */
  tokenValiditySeconds: ['bearerTokenExpirationAfter'],
} as const
