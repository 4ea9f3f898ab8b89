import type { Secret } from './secret.ts'

/** This program's login at the service, for operators who call its API themselves. */
export interface ApiLogin {
  /** Base address, without credentials */
  readonly target: string
  /** Returns the token that this program sends with all calls; throws as `ApiSource.accessToken` does */
  bearer(): Promise<BearerToken>
}

export interface BearerToken {
  token: Secret
  /** Remaining lifetime in whole seconds; null: the service does not say */
  expiresInSeconds: number | null
  /** When it expires by this machine's clock, whatever the service's clock shows */
  expiresAt: Date | null
}
