/** Names of the service's images, without registry and tag (SPEC.md 1). */
export const images = {
  /** Needs x86-64-v3 since build 526u03 (SPEC.md 7) */
  standard: 'testops',
  /** For processors without it, since build 527u01 (SPEC.md 7) */
  legacy: 'testops-legacy',
} as const
