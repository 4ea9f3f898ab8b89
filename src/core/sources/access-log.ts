/**
 * The log of requests that the proxy before the service writes. No query, and nothing that may be a secret, comes out
 * of it.
 */
export interface AccessLogSource {
  /** its file */
  readonly target: string
  /**
   * the newest requests in the order of the file, bounded in bytes; `complete` is false where older ones were left out
   */
  recent(options: { maxBytes: number }): Promise<AccessLogPart>
}

interface AccessLogPart {
  complete: boolean
  requests: readonly LoggedRequest[]
  /** lines that tell of no request, or are of a format that is not known */
  unread: number
}

export interface LoggedRequest {
  /** null where the time, or its zone, cannot be read */
  at: Date | null
  /** address that the request came from, as the proxy saw it */
  client: string
  /** program that sent it, `curl/8.5.0`; null: not recorded, or it did not say */
  agent: string | null
  method: string
  /** without its query; segments that may be secrets are hidden */
  path: string
  status: number
  /** scheme of the Authorization header, in small letters; null: none was sent, or the log does not record it */
  scheme: string | null
}
