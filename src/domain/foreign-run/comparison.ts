import type { Deployment } from '../../core/deployment.ts'
import type { Sources } from '../../core/sources.ts'

/**
 * What a record is compared with; each part is opened only where the record names it, and throws where it cannot be
 * had.
 */
export type ComparedSources = {
  readonly [K in 'service' | 'database' | 'broker' | 'sessions' | 'api' | 'files']: () => Promise<Sources[K]>
}

/** The deployment that a record was found in. */
export interface Comparison {
  deployment: Deployment
  open: ComparedSources
}
