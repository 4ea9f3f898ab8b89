import type { Reach } from '../core/endpoint.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** Another part of the deployment, as errors name it. */
export interface Peer {
  /** 'PostgreSQL' */
  what: string
  host: string
  port: number
  /** 'db.example.org:5432/testops', without credentials */
  where: string
  /** what to type next, where nothing better is known */
  suggestions: readonly Suggestion[]
  /** the protocol that begins unencrypted, as openssl names it */
  starttls?: 'postgres'
  reach?: Reach | undefined
}
