import type { KubernetesClient } from './client.ts'
import type { FoundService } from './find.ts'

/**
 * Milliseconds for which a service counts as it was when it was found: an operator who chooses among several may take
 * longer.
 */
const lifeMs = 500

/** A service in a cluster as it was found, and the client that found it. */
export class SeenService {
  private readonly until: number

  constructor(
    readonly client: KubernetesClient,
    private readonly service: FoundService,
    at: number,
  ) {
    this.until = at + lifeMs
  }

  /** Returns the service as it was found; null if that is too long ago */
  get fresh(): FoundService | null {
    return performance.now() < this.until ? this.service : null
  }
}
