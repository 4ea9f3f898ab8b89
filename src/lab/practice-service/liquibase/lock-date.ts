/** Java's DateFormat SHORT, SHORT of JDK 17 in the locale en_US (FIELD-NOTES.md 2): `11/21/26, 2:12 AM`. */
export function shortDate(moment: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  // JDK 20 and later put a narrow no-break space before AM and PM, as Node does
  return format.format(moment).replaceAll('\u202f', ' ')
}
