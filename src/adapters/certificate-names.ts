/**
 * Returns the names and addresses in a certificate that does not match the requested name: from its subjectAltName,
 * else its common name. Null if the error is about something else.
 */
export function namesOfMisnamed(thrown: unknown): readonly string[] | null {
  if (!(thrown instanceof Error)) return null
  const { code, cert, cause } = thrown as Error & { code?: unknown; cert?: Certificate }
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return namesOfMisnamed(thrown.errors[0])
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return cause === undefined ? null : namesOfMisnamed(cause)
  const names = alternativeNames(cert?.subjectaltname ?? '')
  return names.length > 0 ? names : [cert?.subject?.CN ?? []].flat()
}

/** The parts of Node's certificate object that are read here. */
interface Certificate {
  subjectaltname?: string
  subject?: { CN?: string | string[] }
}

/** Lists what `DNS:a, IP Address:10.0.0.1, URI:…` names. A name with a comma or a quote is in quotes (as JSON). */
export function alternativeNames(text: string): string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^",])+/gs) ?? []
  return parts.flatMap((part) => /^(?:DNS|IP Address):"?(.+?)"?$/.exec(part.trim())?.[1] ?? [])
}
