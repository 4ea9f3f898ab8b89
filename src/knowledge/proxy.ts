/**
 * Answers that reverse proxies give by themselves, and the settings of nginx that cause them (nginx.org,
 * ngx_http_core_module and ngx_http_proxy_module).
 */
export const proxyAnswers = {
  tooLarge: { status: 413, setting: 'client_max_body_size', usual: '1 MB' },
  tooLate: { status: 504, setting: 'proxy_read_timeout', usual: '60 s' },
  unusable: { status: 502, setting: 'proxy_buffer_size', usual: 'one page of memory' },
  /** The service is unavailable: stopped, starting, or taken out of service */
  away: [502, 503, 504],
} as const

/**
 * True if a proxy's answer says nothing of the service behind it: redirects, broken requests, clients that went away.
 */
export function saysNothing(status: number): boolean {
  return (status >= 300 && status < 400) || [400, 408, 413, 414, 431, 494, 499].includes(status)
}
