import type { AdminError } from './error.ts'
import type { Secret } from './secret.ts'
import type { Suggestion } from './shell-command.ts'

/**
 * What an external system shows of itself to who asks it without credentials, step by step; an error: that is where it
 * ended.
 */
export interface ExternalSystem {
  /** the proxy of this machine's environment, host:port; null: it is reached directly */
  proxy: string | null
  /** of its name, from here; empty: it has none; null: it is given by its address */
  addresses: readonly string[] | AdminError | null
  /** to it, or to the proxy; null: not tried */
  connection: { to: string; durationMs: number } | AdminError | null
  /** null: not encrypted, or not tried */
  tls: TlsShown | AdminError | null
  /** null: not tried */
  answer: ShownAnswer | AdminError | null
}

export interface TlsShown {
  /** 'TLSv1.3' */
  protocol: string | null
  /** as Node and OpenSSL name it; null: it is trusted */
  distrust: string | null
  /** whether it is for the name that was asked for */
  isNamed: boolean
  /** the server's own first, then those that it sent with it */
  chain: readonly Certificate[]
}

export interface Certificate {
  /** common name, else the whole subject */
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
  /** a web page, JSON or anything else */
  form: 'page' | 'json' | 'other'
  /** where it redirects to, without query; null: nowhere */
  location: string | null
  /** it redirects to just the address that was asked for */
  isLoop: boolean
  durationMs: number
}

/** What is signed in with. */
export type SignIn = { scheme: 'basic'; user: Secret; password: Secret } | { scheme: 'bearer'; token: Secret }

/** Why an integration cannot connect, of what SPEC.md 7 names; `api`: it has changed, or the address is not its own. */
export type IntegrationCause = 'credentials' | 'connectivity' | 'api'

/** What was looked at, in this order, and what it came to. */
export interface IntegrationStep {
  step: 'user' | 'password' | 'token' | 'name' | 'connection' | 'certificate' | 'answer' | 'sign-in'
  status: 'ok' | 'warning' | 'problem' | 'unknown' | 'skipped'
  /** of problems and warnings */
  cause?: IntegrationCause
  message: string
  /** what to type next */
  next?: readonly Suggestion[]
}
