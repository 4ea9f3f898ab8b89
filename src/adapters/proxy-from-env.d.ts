declare module 'proxy-from-env' {
  /** the empty text: none */
  export function getProxyForUrl(url: string): string
}
