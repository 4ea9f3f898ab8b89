import { Errors } from '@oclif/core'
import { AdminError, exitCodes, messageOf } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import { nearestNames } from '../core/nearest.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { command, nested, withFilled } from '../core/shell-command.ts'
import { onDeployment, typed, typedWords } from '../core/typed.ts'
import { errorText } from '../output/error-text.ts'
import type { ErrorDocument } from '../output/error-text.ts'
import { beforeDashes, chosenIn, print, screenOf } from './write.ts'
import type { Chosen } from './write.ts'

/** Exit code for a bug in this program */
const bugExitCode = 70
/** Exit code if standard output takes no more: something that the command needs is missing */
const noOutputExitCode = 69

interface Failure {
  exitCode: number
  document: ErrorDocument
  /** Only for bugs */
  stack?: string
}

/** Returns what to say about anything that a command threw, without secrets; null if it only asked to exit. */
export function failureOf(thrown: unknown, program: string): Failure | null {
  return withoutSecretsIn(saidOf(thrown, program))
}

/**
 * Ends a command that has printed its result. Throws the error; if that result is the one JSON document, prints the
 * error to standard error instead, and returns its exit code.
 */
export function endWith(error: AdminError, { isJson }: { isJson: boolean }): number {
  if (!isJson) throw error
  const { code, message, suggestions, exitCode } = error
  print(
    process.stderr,
    errorText(withoutSecretsIn({ error: { code, message, suggestions } }), screenOf(process.stderr)),
  )
  return exitCode
}

function saidOf(thrown: unknown, program: string): Failure | null {
  if (thrown instanceof Errors.ExitError) return null
  if (thrown instanceof AdminError) {
    const { code, message, suggestions, exitCode } = thrown
    return { exitCode, document: { error: { code, message, suggestions } } }
  }
  if (isOutput(thrown)) {
    const message = `cannot write the output: ${messageOf(thrown)}`
    return { exitCode: noOutputExitCode, document: { error: { code: 'UNAVAILABLE', message, suggestions: [] } } }
  }
  const stack = thrown instanceof Error ? thrown.stack : undefined
  return {
    exitCode: bugExitCode,
    document: { error: { code: 'BUG', message: `this is a bug in ${program}: ${messageOf(thrown)}`, suggestions: [] } },
    ...(stack ? { stack } : {}),
  }
}

/** Returns the exit code for what could not be loaded: 70 for a bug, 64 for what has to be corrected, else 3. */
export function exitCodeOfUnloaded(codes: readonly (ErrorCode | 'BUG')[]): number {
  if (codes.includes('BUG')) return bugExitCode
  return codes.some((code) => code !== 'BUG' && exitCodes[code] === exitCodes.CONFIGURATION)
    ? exitCodes.CONFIGURATION
    : 3
}

/**
 * True if writing to standard output failed, as on a full disk: the error names no file. A reader that stops is no
 * failure.
 */
export function isOutput(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { syscall, path, code } = thrown as NodeJS.ErrnoException
  return syscall === 'write' && path === undefined && (code === 'ENOSPC' || code === 'EIO' || code === 'EDQUOT')
}

/**
 * Returns oclif's own errors (a missing, unknown or malformed flag or argument) in this program's words. Completes a
 * suggestion that begins with a flag to a whole command. What it suggests is about the deployment and the configuration
 * of the words that were typed after `program`. Leaves everything else as it is.
 */
export function inOwnWords(thrown: unknown, program: Suggestion, words: readonly string[] = []): unknown {
  const chosen = chosenFor(program, words)
  if (thrown instanceof AdminError) return withCommand(thrown, program, chosen)
  if (!(thrown instanceof Errors.CLIError) || thrown instanceof Errors.ExitError) return thrown
  const help = command`${nested(program)} --help`
  const { flags, args, parse } = thrown as Error & {
    flags?: readonly string[]
    args?: readonly { name: string; description?: string }[]
    parse?: {
      input?: { flags?: Record<string, unknown>; args?: object }
      output?: { flags?: Record<string, unknown> }
    }
  }
  const known = parse?.input?.flags
  const given = parse?.output?.flags ?? {}
  if (/^Missing \d+ required arg/.test(thrown.message) && args) {
    const needed = args.map(({ name, description = name.toUpperCase() }) => description).join(' and ')
    return new AdminError('USAGE', `\`${program}\` needs ${needed}`, [help], { cause: thrown })
  }
  if (/^Unexpected argument/.test(thrown.message) && args) {
    const extra = (args as readonly unknown[]).map(String)
    const [word] = extra
    const isName =
      Object.keys(parse?.input?.args ?? {}).length === 0 && !('deployment' in given) && given['all'] !== true
    const meant =
      extra.length === 1 && known !== undefined && 'deployment' in known && isName
        ? [command`${nested(followed(program, chosen.config))} ${nested(onDeployment(word!))}`]
        : []
    return new AdminError('USAGE', `\`${program}\` takes no argument: ${extra.join(', ')}`, [...meant, help], {
      cause: thrown,
    })
  }
  if (!flags || !known) return new AdminError('USAGE', plainMessage(thrown.message), [help], { cause: thrown })
  const names = Object.keys(known).map((name) => `--${name}`)
  const nearest = flags
    .flatMap((flag) => nearestNames(flag, names))
    .map((flag) => command`${nested(followed(program, bothOf(chosen)))} ${nested(typed([flag]))}`)
  const message = `unknown ${flags.length > 1 ? 'flags' : 'flag'} for \`${program}\`: ${flags.join(', ')}`
  return new AdminError('USAGE', message, [...nearest, help], { cause: thrown })
}

function withCommand(error: AdminError, program: Suggestion, chosen: Chosen): AdminError {
  const { deployment, config, values } = chosen
  const completed = (text: Suggestion): Suggestion => {
    // which takes one deployment
    if (text === listOfChecks) return followed(text, deployment.length === 2 ? bothOf(chosen) : config)
    // the name of a setting is judged before the deployment is known
    if (program.endsWith(' set-env') && toSetEnv.test(text) && !/ -d /.test(text))
      return withFilled(text, toSetEnv, () => followed(program, [...bothOf(chosen), ...values]))
    if (!isFlag(text)) return text
    const named = typedWords(text)?.[0]?.replace(/=.*/s, '')
    const kept =
      named === '--config' ? deployment : named === '-d' || named === '--deployment' ? config : bothOf(chosen)
    return command`${nested(followed(program, kept))} ${nested(text)}`
  }
  const suggestions = error.suggestions.map(completed)
  if (suggestions.every((text, at) => text === error.suggestions[at])) return error
  return new AdminError(error.code, error.message, suggestions, { cause: error.cause, obstacle: error.obstacle })
}

const listOfChecks = command`testops-admin checks`
const toSetEnv = /^testops-admin set-env(?= [^-])/

/** Returns the typed flags that choose deployments. `--all` is one of `doctor`; of `flush-sessions` it is not. */
function chosenFor(program: Suggestion, words: readonly string[]): Chosen {
  const chosen = chosenIn(words)
  const isEvery = program.endsWith(' doctor') && chosen.deployment.length === 0 && beforeDashes(words).includes('--all')
  return isEvery ? { ...chosen, deployment: ['--all'] } : chosen
}

function followed(program: Suggestion, flags: readonly string[]): Suggestion {
  return flags.length === 0 ? program : command`${nested(program)} ${nested(typed(flags))}`
}

const bothOf = ({ deployment, config }: Chosen): string[] => [...deployment, ...config]

function isFlag(suggestion: string): boolean {
  return suggestion.startsWith('-')
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g')

function plainMessage(message: string): string {
  return message
    .replace(colours, '')
    .replace(/(?<!\n)\n*See more help with --help\s*$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/^Parsing (--[\w-]+)\s+Expected/, '$1: expected')
    .replace(/(?<![\w-])(--[\w-]+)=true\b/g, '$1')
    .replace(/(?<=\w) {2,}/g, ': ')
    .replace(/(?<!\s)\s*\n\s*/g, ' ')
    .trim()
}
