/**
 * The log of requests that the proxy before the service writes. It returns no query, and nothing that may be a secret.
 */
export interface AccessLogSource {
  /** Path of its file */
  readonly target: string
  /**
   * Returns the newest requests in the order of the file, bounded in bytes; `complete` is false if older ones were left
   * out
   */
  recent(options: { maxBytes: number }): Promise<AccessLogPart>
}

interface AccessLogPart {
  complete: boolean
  requests: readonly LoggedRequest[]
  /** Number of lines that tell of no request, or have an unknown format */
  unread: number
}

export interface LoggedRequest {
  /** Null where the time, or its zone, cannot be read */
  at: Date | null
  /** Address that the request came from, as the proxy saw it */
  client: string
  /** Program that sent it, `curl/8.5.0`; null: not recorded, or it did not say */
  agent: string | null
  method: string
  /** Without its query; segments that may be secrets are hidden */
  path: string
  status: number
  /** Scheme of the Authorization header, in lower case; null: none was sent, or the log does not record it */
  scheme: string | null
}
