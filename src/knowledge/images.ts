/** Names of the service's images, without registry and tag (SPEC.md 1). */
export const images = {
  /** needs x86-64-v3 from build 526u03 on (SPEC.md 7) */
  standard: 'testops',
  /** for processors without it, from build 527u01 on (SPEC.md 7) */
  legacy: 'testops-legacy',
} as const
