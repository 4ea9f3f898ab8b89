/** Checks an HTTP address, which may have a path, and returns it without a trailing slash. */
export function parseHttpAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url && /^https?:\/\/[^/]/i.test(address.trim())) throw new Error('has an invalid host or port')
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error(`must begin with http:// or https://${likely(address)}`)
  if (url.username || url.password) throw new Error('holds credentials; leave them out')
  if (url.search || url.hash) throw new Error('has a query or a fragment; leave it out')
  return url.href.replace(/(?<!\/)\/+$/, '')
}

/**
 * Suggests what an address without a scheme may mean, such as `testops.example.org`, `//host`, `localhost:8080`,
 * `https:/host`; otherwise empty.
 */
function likely(address: string): string {
  const [, scheme = 'https', rest = ''] =
    /^(?:(https?):)?\/{0,2}([^\s/@:]+(?::\d+)?(?:\/[^\s@?#]*)?)$/i.exec(address.trim()) ?? []
  const meant = `${scheme.toLowerCase()}://${rest}`
  return rest !== '' && URL.canParse(meant) ? `, most likely ${meant}` : ''
}
