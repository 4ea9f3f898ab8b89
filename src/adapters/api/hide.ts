import { withoutSecrets } from '../../core/redaction/index.ts'

const shortest = 8

/**
 * Takes secrets out of what another side said: whole, in a part of some length, or as an address holds them. A service
 * may well say which token it refuses.
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

/** Each stretch of the text that is made of parts becomes one mask. */
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
