/** A pgjdbc address (FIELD-NOTES.md 1.3), without credentials. */
export interface JdbcAddress {
  host: string
  port: number
  database: string
  /** pgjdbc's default name if the address has none */
  applicationName: string
  schema: string | null
  encrypted: boolean
}

/** Reads `jdbc:postgresql://h:p[,h2:p]/db?…`; the first host counts. Null if it is not such an address. */
export function parseJdbcUrl(text: string): JdbcAddress | null {
  const parts = /^jdbc:postgresql:\/\/([^/?#]*)\/([^?#]*)(?:\?(.*))?$/.exec(text.trim())
  if (!parts) return null
  const first = /^(\[[^\]]+\]|[^:,]*)(?::(\d+))?/.exec(parts[1]!)
  const parameters = new URLSearchParams(parts[3] ?? '')
  return {
    host: (first?.[1] || 'localhost').replace(/^\[|\]$/g, ''),
    port: Number(first?.[2] ?? 5432),
    database: decodeURIComponent(parts[2]!),
    applicationName: parameters.get('ApplicationName') ?? 'PostgreSQL JDBC Driver',
    schema: parameters.get('currentSchema'),
    encrypted: ['require', 'verify-ca', 'verify-full'].includes(parameters.get('sslmode') ?? ''),
  }
}
