/** Formats a span in milliseconds by its two largest units: `3 h 5 min`, `12 s`, `40 ms`. */
export function span(milliseconds: number): string {
  const total = Math.abs(milliseconds)
  if (total < 1000) return `${Math.round(total)} ms`
  if (total < 10_000) return `${(total / 1000).toFixed(1).replace(/\.0$/, '')} s`
  const seconds = Math.round(total / 1000)
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** Formats bytes in powers of 1000, as df -H and RabbitMQ do: `1.5 GB`. */
export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = count
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : Number(value.toFixed(1))} ${units[unit]}`
}

/** Formats a time in UTC, to the second: `2026-11-21 02:12:44Z` */
export function moment(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`
}
