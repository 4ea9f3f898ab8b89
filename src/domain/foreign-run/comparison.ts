import type { Deployment } from '../../core/deployment.ts'
import type { Sources } from '../../core/sources.ts'

/**
 * The parts that a record is compared with. Each is opened only if the record names it, and throws if it cannot be
 * opened.
 */
export type ComparedSources = {
  readonly [K in 'service' | 'database' | 'broker' | 'sessions' | 'api' | 'files']: () => Promise<Sources[K]>
}

/** The deployment that a record was found in. */
export interface Comparison {
  deployment: Deployment
  open: ComparedSources
}
