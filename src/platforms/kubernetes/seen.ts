import type { KubernetesClient } from './client.ts'
import type { FoundService } from './find.ts'

/**
 * How long a service is taken for what it was when it was found: who is asked which of several is meant may think about
 * it.
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

  /** as it was; null: that is too long ago */
  get fresh(): FoundService | null {
    return performance.now() < this.until ? this.service : null
  }
}
