import type { AdminError } from './error.ts'
import type { Secret } from './secret.ts'
import type { Suggestion } from './shell-command.ts'

/** What an external system shows to a caller without credentials, step by step; an error marks where it ended. */
export interface ExternalSystem {
  /** The proxy of this machine's environment, host:port; null: it is reached directly */
  proxy: string | null
  /** Addresses of its name, from this machine; empty: none; null: it is given by its address */
  addresses: readonly string[] | AdminError | null
  /** The connection to it, or to the proxy; null: not tried */
  connection: { to: string; durationMs: number } | AdminError | null
  /** Null: not encrypted, or not tried */
  tls: TlsShown | AdminError | null
  /** Null: not tried */
  answer: ShownAnswer | AdminError | null
}

export interface TlsShown {
  /** 'TLSv1.3' */
  protocol: string | null
  /** Why it is not trusted, as Node and OpenSSL name it; null: it is trusted */
  distrust: string | null
  /** True if the certificate is for the requested name */
  isNamed: boolean
  /** The server's own certificate first, then those that it sent with it */
  chain: readonly Certificate[]
}

export interface Certificate {
  /** Common name, or else the whole subject */
  subject: string
  issuer: string
  names: readonly string[]
  from: Date
  to: Date
  isSelfSigned: boolean
}

export interface ShownAnswer {
  status: number
  /** `HTTP 401, 'Unauthorized'`: what it says of itself, safe to show */
  said: string
  /** A web page, JSON or anything else */
  form: 'page' | 'json' | 'other'
  /** Where it redirects to, without query; null: nowhere */
  location: string | null
  /** True if it redirects to the requested address itself */
  isLoop: boolean
  durationMs: number
}

/** Credentials to sign in with. */
export type SignIn = { scheme: 'basic'; user: Secret; password: Secret } | { scheme: 'bearer'; token: Secret }

/** Why an integration cannot connect, as in SPEC.md 7; `api`: it has changed, or the address is not its own. */
export type IntegrationCause = 'credentials' | 'connectivity' | 'api'

/** One part of the connection that was examined, and the result. `step` lists them in order. */
export interface IntegrationStep {
  step: 'user' | 'password' | 'token' | 'name' | 'connection' | 'certificate' | 'answer' | 'sign-in'
  status: 'ok' | 'warning' | 'problem' | 'unknown' | 'skipped'
  /** Set for problems and warnings */
  cause?: IntegrationCause
  message: string
  /** What to type next */
  next?: readonly Suggestion[]
}
