import { jsonWithoutBuildCommands } from '../core/build-server-lines.ts'
import { harmlessJson } from '../core/harmless.ts'

const yes = ['1', 'true', 'y', 'yes']

/**
 * True if standard output is to be one JSON document. Reads unparsed words, since a failure to parse the flags must be
 * such a document too.
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

/**
 * Returns one JSON document as printed. Invisible characters, and those that steer a terminal, become `\\u…`. A build
 * server finds no command in it.
 */
export function jsonText(document: object): string {
  return `${jsonWithoutBuildCommands(harmlessJson(JSON.stringify(document, null, 2)))}\n`
}
