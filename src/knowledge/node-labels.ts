/** Prefix of the labels in which node-feature-discovery lists a node's processor features (FIELD-NOTES.md 5). */
const prefix = 'feature.node.kubernetes.io/cpu-cpuid.'

/**
 * The flags of x86-64-v3 that are labelled by default, with their names in /proc/cpuinfo; the others are on its block
 * list.
 */
const labelled = { AVX: 'avx', AVX2: 'avx2', FMA3: 'fma', MOVBE: 'movbe' } as const

/**
 * Returns the flags of x86-64-v3 that a node lacks by its labels; null if no label describes the processor. Labels can
 * only disprove the level: most flags are never labelled, and a labelled one may be switched off. Without such flags,
 * the level is likely.
 */
export function toldByLabels(
  labels: Readonly<Record<string, string>>,
): { lacks: readonly string[]; by: string } | null {
  if (!Object.keys(labels).some((name) => name.startsWith(prefix))) return null
  const lacks = Object.entries(labelled).filter(([label]) => labels[`${prefix}${label}`] !== 'true')
  return { lacks: lacks.map(([, flag]) => flag), by: `labels ${prefix}*` }
}
