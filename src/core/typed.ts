import type { NamedFile } from './deployment.ts'
import { command, nested, typed } from './shell-command.ts'
import { deadlineSlackMs } from './work.ts'
import type { ShellCommand } from './shell-command.ts'
export { typed } from './shell-command.ts'

/**
 * Returns the flags that name a deployment, and its configuration file if a flag named one; or the flag of its `file`.
 */
export function onDeployment(name: string, config?: string, file?: NamedFile): ShellCommand {
  if (file) return typed(flagWords(file.flag, file.path))
  return typed([
    ...(name.startsWith('-') ? flagWords('--deployment', name) : ['-d', name]),
    ...(config === undefined ? [] : flagWords('--config', config)),
  ])
}

/** Returns a flag with its value, joined so that a value which begins with a dash stays a value. */
export function flagWords(name: string, value: string): string[] {
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value]
}

/**
 * Returns the words of a command as a shell reads them, without its comment: the inverse of `typed`. Null if a shell
 * would do more with it than read words.
 */
export function typedWords(command: string): string[] | null {
  const words: string[] = []
  let word: string | null = null
  let rest = command
  while (rest !== '') {
    const found = piece.exec(rest)
    if (!found) return null
    const { blank, comment, bare, single, double, escaped } = found.groups as Record<string, string | undefined>
    if (comment !== undefined && word === null) break
    if (blank !== undefined) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + (bare ?? single ?? double ?? escaped ?? comment ?? '')
    rest = rest.slice(found[0].length)
  }
  return word === null ? words : [...words, word]
}

const piece = new RegExp(
  [
    '^(?:(?<blank>[ ]+)',
    '(?<comment>#)',
    String.raw`(?<bare>[\w@%+=:,./-]+)`,
    "'(?<single>[^']*)'",
    '"(?<double>[^"$`\\\\!]*)"',
    String.raw`\\(?<escaped>'))`,
  ].join('|'),
)

/** What `--timeout` takes at most */
const mostSeconds = 3600

/** Returns the command that runs a check alone, with twice the `--timeout` from which this deadline follows. */
export function withMoreTime(
  id: string,
  deadlineMs: number,
  on: ShellCommand = command`-d {deployment}`,
): ShellCommand {
  const seconds = Math.max(1, Math.ceil((deadlineMs - deadlineSlackMs) / 1000))
  return command`testops-admin doctor ${nested(on)} --only ${id} --timeout ${Math.min(mostSeconds, 2 * seconds)}`
}
