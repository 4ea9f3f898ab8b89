import type { PracticeMachine } from './practice-service/machine.ts'

/** How a broken deployment's files differ from the healthy one's: settings, machine, configuration. */
export interface Changes {
  /** the service's environment variables; null removes one */
  environment?: Readonly<Record<string, string | null>>
  machine?: Partial<PracticeMachine>
  declared?: Partial<Declared>
  /** the processor level of the service's machine */
  processor?: Processor
}

/** What the configuration says about the service's machine. */
interface Declared {
  image: string
  build: string
  timeZone: string
  /** the reverse proxy's access log, if a fault puts a proxy in front of the service */
  accessLog: boolean
  /** login of the integration with the external system, if a fault sets one up; null: not declared */
  integration: { user: string; password: string } | null
}

export type Processor = 'x86-64-v3' | 'x86-64-v2'

/** The healthy deployment's image and build. The healthy machine has the processor level that this image needs. */
const healthyDeclared: Declared = {
  image: 'registry.example.org/testops/testops:527u01',
  build: '527u01',
  timeZone: 'UTC',
  accessLog: false,
  integration: null,
}

export interface Overlay {
  environment: Readonly<Record<string, string | null>>
  machine: Partial<PracticeMachine>
  declared: Declared
  processor: Processor
}

/** Merges all changes; later ones win. */
export function overlayOf(changes: readonly Changes[]): Overlay {
  return changes.reduce<Overlay>(
    (sum, { environment, machine, declared, processor }) => ({
      environment: { ...sum.environment, ...environment },
      machine: { ...sum.machine, ...machine },
      declared: { ...sum.declared, ...declared },
      processor: processor ?? sum.processor,
    }),
    { environment: {}, machine: {}, declared: healthyDeclared, processor: 'x86-64-v3' },
  )
}
