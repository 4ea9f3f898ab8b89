/** Reads the address of something that speaks HTTP; it may have a path, and comes back without a trailing slash. */
export function parseHttpAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) throw new Error('must begin with http:// or https://')
  if (url.username || url.password) throw new Error('holds credentials; leave them out')
  if (url.search || url.hash) throw new Error('has a query or a fragment; leave it out')
  return url.href.replace(/\/+$/, '')
}
