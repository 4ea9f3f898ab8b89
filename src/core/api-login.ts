import type { Secret } from './secret.ts'

/** Who this program is to the service: for those who call its API themselves. */
export interface ApiLogin {
  /** base address, without credentials */
  readonly target: string
  /** the token that all calls of this program have; throws as `ApiSource.accessToken` does */
  bearer(): Promise<BearerToken>
}

export interface BearerToken {
  token: Secret
  /** what is left of its life, in whole seconds; null: the service does not say */
  expiresInSeconds: number | null
  /** the same by this machine's clock, whatever the service's shows */
  expiresAt: Date | null
}
