/** The annotations of an Ingress by which controllers are told what to let through. */
export interface IngressLimits {
  maxBody: string | null
  readTimeout: string
  /** milliseconds for a bare number there; a unit may stand behind it */
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

/** `8m` in bytes, as nginx reads it: 0 sets no limit; null: it is no size. */
export function sizeIn(text: string): number | null {
  const [, count, unit = ''] = /^(\d+)\s*([kmg]?)b?$/i.exec(text.trim()) ?? []
  if (count === undefined) return /^\s*unlimited\s*$/i.test(text) ? Number.POSITIVE_INFINITY : null
  return Number(count) === 0 ? Number.POSITIVE_INFINITY : Number(count) * sizeUnits[unit.toLowerCase()]!
}

/** `60`, `60s`, `5m` in milliseconds; null: it is no time. */
export function timeIn(text: string, unitMs: number): number | null {
  const [, count, unit] = /^(\d+)\s*(ms|s|m|h|d)?$/i.exec(text.trim()) ?? []
  return count === undefined ? null : Number(count) * (unit === undefined ? unitMs : timeUnits[unit.toLowerCase()]!)
}
