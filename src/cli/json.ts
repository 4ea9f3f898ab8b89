const yes = ['1', 'true', 'y', 'yes']

/**
 * Whether standard output is to be one JSON document: asked before flags are parsed, since a failure to parse them
 * has to be such a document too.
 */
export function wantsJson(words: readonly string[], environment: NodeJS.ProcessEnv = process.env): boolean {
  const end = words.indexOf('--')
  const flags = end < 0 ? words : words.slice(0, end)
  return (
    flags.includes('--json') ||
    flags.includes('--format=json') ||
    flags.some((word, index) => word === '--format' && flags[index + 1] === 'json') ||
    yes.includes(environment.TESTOPS_ADMIN_JSON?.toLowerCase() ?? '')
  )
}

/** One JSON document, as it is printed. */
export function jsonText(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`
}
