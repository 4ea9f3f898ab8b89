const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Reads a duration like Spring Boot: `10d`, `30m`, `PT1H`, `3600` (seconds without a unit). Returns milliseconds, or
 * null.
 */
export function parseDuration(text: string): number | null {
  const simple = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/i.exec(text.trim())
  if (simple) return Number(simple[1]) * units[(simple[2] ?? 's').toLowerCase()]!
  const iso = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i.exec(text.trim())
  if (!iso || iso.slice(1).every((part) => part === undefined)) return null
  const [days, hours, minutes, seconds] = iso.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ]
  return days * units['d']! + hours * units['h']! + minutes * units['m']! + seconds * units['s']!
}
