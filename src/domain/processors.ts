import type { Machine } from '../core/sources.ts'
import { cpuLevel, isVirtual, missingFlags } from '../knowledge/processors.ts'

export interface MachineVerdict {
  name: string
  /** Null if its flags are unknown, or if it is of another architecture */
  hasV3: boolean | null
  /** The highest level of all its processors, for people */
  level: string
  missing: readonly string[]
  isVirtual: boolean
  /** The hypervisor of a virtual machine; null if unknown, or if it is not virtual */
  hypervisor: string | null
  /** What shows `missing` if the flags do not; null if they do, or if nothing shows it */
  by: string | null
}

/** Judges a machine's processors against x86-64-v3 (SPEC.md 7). */
export function judgeMachine({ name, architecture, processors, hypervisor, told }: Machine): MachineVerdict {
  if (architecture !== null && !/^(?:x86_64|amd64|i[3-6]86)$/.test(architecture)) {
    return { name, hasV3: null, level: architecture, missing: [], isVirtual: false, hypervisor, by: null }
  }
  if (processors.length === 0 && told && told.lacks.length > 0) {
    return {
      name,
      hasV3: false,
      level: 'below x86-64-v3',
      missing: told.lacks,
      isVirtual: false,
      hypervisor,
      by: told.by,
    }
  }
  if (processors.length === 0)
    return { name, hasV3: null, level: 'unknown', missing: [], isVirtual: false, hypervisor, by: told?.by ?? null }
  const missing = missingFlags(processors, 'x86-64-v3')
  return {
    name,
    hasV3: missing.length === 0,
    level: cpuLevel(processors) ?? 'below x86-64',
    missing,
    isVirtual: isVirtual(processors),
    hypervisor,
    by: null,
  }
}
