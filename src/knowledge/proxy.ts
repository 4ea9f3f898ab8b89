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

/** The annotations of an Ingress that tell controllers what to let through. */
interface IngressLimits {
  maxBody: string | null
  readTimeout: string
  /** Milliseconds of a bare number there; a unit may follow it */
  unitMs: number
}

export const ingressLimits: readonly IngressLimits[] = [
  // kubernetes.github.io/ingress-nginx, "Annotations"
  {
    maxBody: 'nginx.ingress.kubernetes.io/proxy-body-size',
    readTimeout: 'nginx.ingress.kubernetes.io/proxy-read-timeout',
    unitMs: 1000,
  },
  // docs.nginx.com, NGINX Ingress Controller, "Advanced configuration with annotations"
  { maxBody: 'nginx.org/client-max-body-size', readTimeout: 'nginx.org/proxy-read-timeout', unitMs: 1000 },
  // haproxy-ingress.github.io, "Configuration keys"
  {
    maxBody: 'haproxy-ingress.github.io/proxy-body-size',
    readTimeout: 'haproxy-ingress.github.io/timeout-server',
    unitMs: 1,
  },
]

const sizeUnits: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1_048_576, g: 1_073_741_824 }
const timeUnits: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a size such as `8m` into bytes, as nginx does: 0 sets no limit (Infinity). Null if it is no size. */
export function sizeIn(text: string): number | null {
  const [, count, unit = ''] = /^(\d+)\s*([kmg]?)b?$/i.exec(text.trim()) ?? []
  if (count === undefined) return /^\s*unlimited\s*$/i.test(text) ? Number.POSITIVE_INFINITY : null
  return Number(count) === 0 ? Number.POSITIVE_INFINITY : Number(count) * sizeUnits[unit.toLowerCase()]!
}

/** Parses a time such as `60`, `60s` or `5m` into milliseconds; null if it is no time. `unitMs`: for a bare number. */
export function timeIn(text: string, unitMs: number): number | null {
  const [, count, unit] = /^(\d+)\s*(ms|s|m|h|d)?$/i.exec(text.trim()) ?? []
  return count === undefined ? null : Number(count) * (unit === undefined ? unitMs : timeUnits[unit.toLowerCase()]!)
}
