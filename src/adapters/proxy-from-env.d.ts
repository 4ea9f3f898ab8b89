declare module 'proxy-from-env' {
  /** Returns the proxy for an address; the empty text if there is none */
  export function getProxyForUrl(url: string): string
}
