/** The labels that node-feature-discovery gives a node for what its processor can (FIELD-NOTES.md 5). */
const prefix = 'feature.node.kubernetes.io/cpu-cpuid.'

/**
 * Of the flags of x86-64-v3 those that are labelled by default, by their names in /proc/cpuinfo; the others are on its
 * block list.
 */
const labelled = { AVX: 'avx', AVX2: 'avx2', FMA3: 'fma', MOVBE: 'movbe' } as const

/**
 * The flags of x86-64-v3 that labels show a node to lack: they can only disprove it, since most flags are never
 * labelled, and one that is may be switched off. None: that level is likely. Null where no label speaks of the
 * processor.
 */
export function toldByLabels(
  labels: Readonly<Record<string, string>>,
): { lacks: readonly string[]; by: string } | null {
  if (!Object.keys(labels).some((name) => name.startsWith(prefix))) return null
  const lacks = Object.entries(labelled).filter(([label]) => labels[`${prefix}${label}`] !== 'true')
  return { lacks: lacks.map(([, flag]) => flag), by: `labels ${prefix}*` }
}
