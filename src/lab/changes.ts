import type { PracticeMachine } from './practice-service/machine.ts'

/** How a broken deployment differs from the healthy one in what is written down: settings, machine, configuration. */
export interface Changes {
  /** the service's environment variables; null takes one away */
  environment?: Readonly<Record<string, string | null>>
  machine?: Partial<PracticeMachine>
  declared?: Partial<Declared>
  /** what the processor of the service's machine can do */
  processor?: Processor
}

/** What the configuration says of the service's machine. */
interface Declared {
  image: string
  build: string
  timeZone: string
  /** that of the reverse proxy, where a fault puts one before the service */
  accessLog: boolean
  /** login of the integration with the external system, where a fault sets one up; null: none is declared */
  integration: { user: string; password: string } | null
}

export type Processor = 'x86-64-v3' | 'x86-64-v2'

/** The healthy deployment's image and build; the image needs the processor level that the healthy machine has. */
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

/** All changes together, later ones above earlier ones. */
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
