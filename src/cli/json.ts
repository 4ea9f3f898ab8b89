import { jsonWithoutBuildCommands } from '../core/build-server-lines.ts'
import { harmlessJson } from '../core/harmless.ts'

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

/**
 * One JSON document, as it is printed: what is unseen or would steer a terminal stands as `\\u…` in it, and a build
 * server finds no command.
 */
export function jsonText(document: object): string {
  return `${jsonWithoutBuildCommands(harmlessJson(JSON.stringify(document, null, 2)))}\n`
}
