/** Groups the digits of a number, '1,284', without Node's tables of languages, which load slowly. */
export function grouped(count: number): string {
  const [, sign = '', digits] = /^(-?)(\d+)$/.exec(String(count)) ?? []
  if (digits === undefined) return String(count)
  const first = digits.length % 3 || 3
  return sign + [digits.slice(0, first), ...(digits.slice(first).match(/\d{3}/g) ?? [])].join(',')
}
