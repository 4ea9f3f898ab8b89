import { withoutSecrets } from '../../core/redaction/index.ts'

const shortest = 8

/**
 * Returns a function that masks secrets in a text: whole, in parts of at least `shortest` characters, or URL-encoded. A
 * service may quote the token that it rejects.
 */
export function hideSecrets(secrets: readonly string[]): (text: string) => string {
  const all = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))].filter(
    (secret) => secret !== '',
  )
  const parts = new Set(all.flatMap(partsOf))
  return (text) => {
    const whole = all
      .toSorted((a, b) => b.length - a.length)
      .reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text)
    return withoutSecrets(withoutParts(whole, parts))
  }
}

function partsOf(secret: string): string[] {
  return Array.from({ length: Math.max(0, secret.length - shortest + 1) }, (_, at) => secret.slice(at, at + shortest))
}

/** Masks each stretch of the text that consists of parts of a secret. */
function withoutParts(text: string, parts: ReadonlySet<string>): string {
  let clean = ''
  for (let at = 0; at < text.length; ) {
    let end = at
    for (let from = at; parts.has(text.slice(from, from + shortest)); from++) end = from + shortest
    clean += end > at ? '[secret]' : text.charAt(at)
    at = end > at ? end : at + 1
  }
  return clean
}
