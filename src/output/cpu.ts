import { images } from '../knowledge/images.ts'
import { firstLegacyBuild, firstV3Build } from '../knowledge/builds.ts'
import { hypervisorAdvice } from '../knowledge/processors.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { hang, printable, wrap } from './text.ts'

export interface JudgedMachine {
  name: string
  /** The highest level that all its processors have; the name of another architecture, or `unknown` */
  level: string
  /** Flags that some processor lacks for x86-64-v3, named as in /proc/cpuinfo */
  missing: readonly string[]
  /** The hypervisor of a virtual machine, `unnamed` if it does not show; null if the processor shows none */
  hypervisor: string | null
  verdict: 'has-v3' | 'lacks-v3' | 'other-architecture' | 'unknown'
  /** Why its processor could not be read, a line for each way; absent if that was not tried */
  reason?: string
}

/** What `check-cpu --json` prints. */
export interface CpuDocument {
  schemaVersion: 1
  machines: readonly JudgedMachine[]
}

/** Returns 1 if a machine lacks v3, 3 if one is not known to have it, else 0 (DESIGN.md 3). */
export function cpuExitCode({ machines }: CpuDocument): number {
  if (machines.some(({ verdict }) => verdict === 'lacks-v3')) return 1
  return machines.some(({ verdict }) => verdict !== 'has-v3') ? 3 : 0
}

/** Returns a line for each machine, and advice for those without x86-64-v3. */
export function cpuText({ machines }: CpuDocument, screen: Screen): string {
  const paint = paintFor(screen)
  const signs = {
    'has-v3': paint.good('✔'),
    'lacks-v3': paint.bad('✖'),
    'other-architecture': paint.doubt('?'),
    unknown: paint.doubt('?'),
  }
  const lines = machines.flatMap((it) => {
    const [first = '', ...more] = hang('  ', `${printable(it.name)}: ${said(it)}`, screen.columns)
    return [
      `${signs[it.verdict]} ${first.slice(2)}`,
      ...more,
      ...reasonsOf(it).flatMap((reason) => hang('    - ', printable(reason), screen.columns)),
    ]
  })
  const lacking = machines.filter(({ verdict }) => verdict === 'lacks-v3')
  const advice = lacking.length === 0 ? [] : adviceOn(lacking).flatMap((it) => ['', ...wrap(it, screen.columns)])
  return `${[...lines, ...advice].join('\n')}\n`
}

function said({ level, missing, hypervisor, verdict }: JudgedMachine): string {
  const virtual =
    hypervisor === null ? '' : `; a virtual machine${hypervisor === 'unnamed' ? '' : ` (${printable(hypervisor)})`}`
  switch (verdict) {
    case 'has-v3':
      return level
    case 'lacks-v3':
      return `${level}, without ${missing.join(', ')}${virtual}`
    case 'other-architecture':
      return `${level}: x86-64 levels do not apply`
    case 'unknown':
      return 'processor unknown'
  }
}

function reasonsOf({ reason }: JudgedMachine): string[] {
  return reason?.split('\n') ?? []
}

function adviceOn(lacking: readonly JudgedMachine[]): string[] {
  const isVirtual = lacking.some(({ hypervisor }) => hypervisor !== null)
  return [
    `Since build ${firstV3Build.label}, image ${images.standard} needs a processor with x86-64-v3.`,
    ...(isVirtual ? [hypervisorAdvice] : []),
    `On processors without x86-64-v3, use image ${images.legacy}, available since build ${firstLegacyBuild.label}: ` +
      'testops-admin explain service/cpu-level',
  ]
}
