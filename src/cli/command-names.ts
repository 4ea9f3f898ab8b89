import { AdminError } from '../core/error.ts'
import { nearestNames } from '../core/nearest.ts'
import { command } from '../core/shell-command.ts'
import { typed } from '../core/typed.ts'
import { beforeDashes } from './write.ts'

/**
 * What a command line asks for. `id` is oclif's, such as `lab:up`; `names` may be a command, a group of commands, or
 * empty.
 */
export type Wish =
  | { kind: 'command'; id: string; rest: string[] }
  | { kind: 'help'; names: string[] }
  | { kind: 'version' }
  /** Nothing was typed after the program's name */
  | { kind: 'begin' }

/**
 * Reads the words of a command line. Throws USAGE with the nearest names if they name no command. oclif alone answers
 * `lab pu` with help and 0, and takes `doctor broker` for a command of that name.
 */
export function readWords(words: readonly string[], ids: readonly string[], program: string): Wish {
  const [first] = words
  if (first === '--version' || first === '-v') return { kind: 'version' }
  if (first === 'help') return readHelp(words.slice(1), ids, program)
  if (words.length === 0) return { kind: 'begin' }
  const flags = beforeDashes(words)
  if (flags.includes('--help') || flags.includes('-h')) return readHelp(namesIn(words), ids, program)
  const names = namesIn(words)
  if (names.length === 0)
    throw new AdminError('USAGE', `put flags after the command: \`${program} COMMAND ${first}\``, [
      command`${program} --help`,
    ])
  const id = commandIn(names, ids)
  const isGroup = ids.some((other) => id !== null && other.startsWith(`${id}:`))
  if (isGroup && names.length > 1) throw unknownCommand(names, ids, program)
  if (id !== null) return { kind: 'command', id, rest: words.slice(id.split(':').length) }
  return readHelp(names, ids, program)
}

function readHelp(words: readonly string[], ids: readonly string[], program: string): Wish {
  const names = namesIn(words)
  const id = commandIn(names, ids)
  if (id !== null) return { kind: 'help', names: id.split(':') }
  const isGroup = ids.some((known) => `${known}:`.startsWith(names.map((name) => `${name}:`).join('')))
  if (isGroup) return { kind: 'help', names }
  throw unknownCommand(names, ids, program)
}

function unknownCommand(names: readonly string[], ids: readonly string[], program: string): AdminError {
  const siblings = ids.filter((id) => id.startsWith(`${names[0]}:`))
  const inGroup = siblings.length > 0
  const asked = names.slice(0, inGroup ? 2 : 1).join(' ')
  const known = inGroup ? siblings : ids.flatMap((id) => [id.split(':')[0] ?? id, id])
  const near = nearestNames(asked, new Set(known.map((id) => id.replaceAll(':', ' '))))
  const help = typed([program, ...(inGroup ? names.slice(0, 1) : []), '--help'])
  return new AdminError('USAGE', `\`${asked}\` is not a command of ${program}`, [
    ...near.map((name) => typed([program, ...name.split(' ')])),
    help,
  ])
}

/** Returns the id of the command whose name the words begin with, the longest of several; null if there is none. */
function commandIn(names: readonly string[], ids: readonly string[]): string | null {
  const meant = ids.filter((id) => id.split(':').every((part, index) => names[index] === part))
  return meant.sort((one, other) => other.length - one.length)[0] ?? null
}

function namesIn(words: readonly string[]): string[] {
  const flag = words.findIndex((word) => word.startsWith('-'))
  return flag < 0 ? [...words] : words.slice(0, flag)
}
