import type { Command } from '@oclif/core'
import { harmless } from '../core/harmless.ts'
import { templateNames } from '../output/templates/facts.ts'
import { chosenIn } from './write.ts'

/** A candidate for the word under the cursor, and what it means. */
export interface Candidate {
  text: string
  about: string
}

type Flag = Pick<Command.Flag.Cached, 'char' | 'summary' | 'type' | 'hidden'> & {
  options?: readonly string[]
  multiple?: boolean
  /** Between the values of a list */
  delimiter?: string
}

/** What the manifest says of a command, as far as completion needs it. */
export interface KnownCommand {
  id: string
  summary: string
  flags: Readonly<Record<string, Flag>>
  args: Readonly<Record<string, { options?: readonly string[] }>>
  hidden?: boolean
}

/** Values that a flag or an argument takes. Each is asked only when it is needed; none throws. */
export interface Values {
  deployments(): Promise<readonly Candidate[]>
  /** Those of the catalogue, and the own checks of these deployments, or of those that the command would examine */
  checks(deployments: readonly string[] | 'all' | null): Promise<readonly Candidate[]>
  rules(): Promise<readonly Candidate[]>
  /** Unfinished runs of that deployment, or of all */
  runs(deployment: string | null): Promise<readonly Candidate[]>
  entries(): Promise<readonly Candidate[]>
  faults(): Promise<readonly Candidate[]>
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Values of flags by their names, on every command. */
const ofFlags: Readonly<Record<string, keyof Values>> = {
  deployment: 'deployments',
  confirm: 'deployments',
  only: 'checks',
  skip: 'checks',
  adopt: 'runs',
  rule: 'rules',
}

/** Values of flags that say themselves what is wrong with another, so that the manifest does not know them. */
const judgedLater: Readonly<Record<string, readonly string[]>> = { template: templateNames }

/** Values of the first argument, by command. */
const ofArguments: Readonly<Record<string, keyof Values>> = {
  discard: 'runs',
  explain: 'entries',
  'lab:break': 'faults',
  'lab:mend': 'faults',
  resume: 'runs',
  undo: 'runs',
  use: 'deployments',
}

/** Commands whose first argument may be given again. */
const several: readonly string[] = ['lab:break', 'lab:mend']

/**
 * Returns what the last word may become; `words` are those after the program's name, up to the cursor. Null:
 * a file, or something that nobody knows.
 */
export async function candidatesFor(
  words: readonly string[],
  commands: readonly KnownCommand[],
  values: Values,
): Promise<readonly Candidate[] | null> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const shown = commands.filter(({ hidden }) => hidden !== true)
  const named = commandIn(before, shown)
  if (!named) return beginning(namesIn(before), current, shown)
  const { command, rest } = named
  if (rest.includes('--')) return null
  const flagOf = (word: string): [string, Flag] | undefined => {
    const found = Object.entries(command.flags).find(
      ([name, { char }]) => word === `--${name}` || (char && word === `-${char}`),
    )
    const options = found && judgedLater[found[0]]
    return options ? [found[0], { ...found[1], options }] : found
  }
  const joined = /^(--[a-z-]+)=(.*)$/s.exec(current)
  if (joined) {
    const [, name = '', value = ''] = joined
    const flag = flagOf(name)
    const found = flag && flag[1].type === 'option' ? await valuesOf(flag, value, rest, values) : []
    return found && found.map(({ text, about }) => ({ text: `${name}=${text}`, about }))
  }
  const waiting = flagOf(rest.at(-1) ?? '')
  if (waiting?.[1].type === 'option') return valuesOf(waiting, current, rest, values)
  // `--skip api/latency service/clocks`
  const open = flagOf(rest.findLast((word) => word.startsWith('-')) ?? '')
  if (open?.[1].multiple === true && ofFlags[open[0]] === 'checks' && !current.startsWith('-'))
    return valuesOf(open, current, rest, values)
  const given = rest.flatMap((word) => flagOf(word.replace(/=.*/s, ''))?.[0] ?? [])
  if (current.startsWith('-')) {
    const flags = Object.entries(command.flags).filter(
      ([name, { hidden, multiple }]) => hidden !== true && (multiple === true || !given.includes(name)),
    )
    return fitting([...flags.map(([name, { summary = '' }]) => ({ text: `--${name}`, about: summary })), help], current)
  }
  const source = ofArguments[command.id]
  const options = Object.values(command.args)[0]?.options
  if (options)
    return fitting(
      options.map((text) => ({ text, about: '' })),
      current,
    )
  // `report` is a command, and `report show` another
  const below = rest.length === 0 ? beginning(before, current, shown) : []
  if (below.length > 0) return below
  if (source === undefined) return Object.keys(command.args).length > 0 ? null : []
  const arguments_ = argumentsIn(rest, flagOf)
  if (arguments_.length > 0 && !several.includes(command.id)) return []
  return fitting(await asked(source, rest, values), current)
}

const help: Candidate = { text: '--help', about: 'Show help' }

/** Returns names of commands that go on from these. */
function beginning(names: readonly string[], current: string, commands: readonly KnownCommand[]): Candidate[] {
  if (current.startsWith('-'))
    return fitting([help, ...(names.length === 0 ? [{ text: '--version', about: 'Show the version' }] : [])], current)
  const found = new Map<string, string>()
  for (const { id, summary } of commands) {
    const parts = id.split(':')
    const next = parts[names.length]
    if (next === undefined || !names.every((name, at) => parts[at] === name)) continue
    if (parts.length === names.length + 1 || !found.has(next)) found.set(next, summary)
  }
  return fitting(
    [...found].map(([text, about]) => ({ text, about })),
    current,
  )
}

/** Returns the command that these words begin with, and the words after its name; null: they are no whole name yet. */
function commandIn(
  words: readonly string[],
  commands: readonly KnownCommand[],
): { command: KnownCommand; rest: readonly string[] } | null {
  for (const length of [2, 1]) {
    const id = words.slice(0, length).join(':')
    const command = commands.find((it) => it.id === id && words.length >= length)
    if (command) return { command, rest: words.slice(length) }
  }
  return null
}

const namesIn = (words: readonly string[]): string[] => words.filter((word) => !word.startsWith('-'))

function argumentsIn(rest: readonly string[], flagOf: (word: string) => [string, Flag] | undefined): string[] {
  return rest.filter((word, at) => {
    const before = flagOf(rest[at - 1] ?? '')
    return !word.startsWith('-') && before?.[1].type !== 'option'
  })
}

async function valuesOf(
  [name, flag]: [string, Flag],
  current: string,
  rest: readonly string[],
  values: Values,
): Promise<Candidate[] | null> {
  // the last of a list: `--only broker,ser`
  const comma = flag.delimiter === ',' ? current.lastIndexOf(',') + 1 : 0
  const [done, last] = [current.slice(0, comma), current.slice(comma)]
  const within = (all: readonly Candidate[]): Candidate[] =>
    fitting(all, last).map(({ text, about }) => ({ text: `${done}${text}`, about }))
  if (flag.options) return within(flag.options.map((text) => ({ text, about: '' })))
  const source = ofFlags[name]
  return source === undefined ? null : within(await asked(source, rest, values))
}

async function asked(source: keyof Values, rest: readonly string[], values: Values): Promise<readonly Candidate[]> {
  const named = chosenIn(rest).deployment.filter((_, at) => at % 2 === 1)
  if (source === 'runs') return values.runs(named[0] ?? null)
  if (source === 'checks') return values.checks(rest.includes('--all') ? 'all' : named.length > 0 ? named : null)
  return values[source]()
}

function fitting(all: readonly Candidate[], current: string): Candidate[] {
  return all.filter(({ text }) => text.startsWith(current))
}

/**
 * Returns the script that a shell reads once. It asks this program for each word, so that it need not be made again
 * after an upgrade. Where the program fails, a file may stand, or it does not know: the shell completes files.
 */
export function scriptFor(shell: Shell): string {
  return scripts[shell]
}

const scripts: Readonly<Record<Shell, string>> = {
  bash: `# completion of testops-admin for bash: source <(testops-admin completion bash)
_testops_admin() {
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  local found
  COMPREPLY=()
  if found=$(testops-admin completion bash --line -- "\${words[@]}" 2>/dev/null); then
    if [[ -n $found ]]; then mapfile -t COMPREPLY <<< "$found"; fi
  else compopt -o default 2>/dev/null; fi
  return 0
}
complete -F _testops_admin testops-admin
`,
  zsh: `#compdef testops-admin
# completion of testops-admin for zsh: source <(testops-admin completion zsh)
_testops_admin() {
  local lines
  local -a found
  if lines=$(testops-admin completion zsh --line -- "\${(@)words[2,CURRENT]}" 2>/dev/null); then
    found=("\${(@f)lines}")
    if [[ -n $lines ]]; then _describe -V 'testops-admin' found; fi
  else _files; fi
}
if [[ "\${funcstack[1]}" == _testops_admin ]]; then _testops_admin "$@"; else compdef _testops_admin testops-admin; fi
`,
  fish: `# completion of testops-admin for fish: testops-admin completion fish | source
function __testops_admin
    set -l words (commandline -opc) (commandline -ct)
    set -l found (testops-admin completion fish --line -- $words[2..-1] 2>/dev/null)
    if test $status -eq 0
        string replace '   # ' \\t -- $found
    else if functions -q __fish_complete_path
        __fish_complete_path (commandline -ct)
    end
end
complete -c testops-admin -f -a '(__testops_admin)'
`,
}

/**
 * Returns the words that bash has split at `=` and `:` as they were typed: `--only`, `=` and `br` are one. Nobody types
 * such a sign with spaces around it.
 */
export function joinedWords(words: readonly string[]): string[] {
  return words.reduce<string[]>((all, word) => {
    const last = all.at(-1)
    const isPart = /^[=:]+$/.test(word) || (last !== undefined && /[=:]$/.test(last))
    return last !== undefined && isPart ? [...all.slice(0, -1), last + word] : [...all, word]
  }, [])
}

/** Returns the file that a word of the line names, as the shell that has not yet read it would. */
export function pathIn(word: string, home = ''): string {
  const path = word.replace(
    /^(?:~|"?\$(?:HOME|\{HOME\}))(?=["/]|$)/,
    (start) => (start.startsWith('"') ? '"' : '') + home,
  )
  return path.replace(/'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.)/gs, (_, single, double, one) =>
    String(single ?? (double as string | undefined)?.replace(/\\(["\\$`])/g, '$1') ?? one),
  )
}

/** Words that a shell takes as they stand: a name in somebody's file must not become a command on the line. */
const plain = /^[\w.,@%+/:=-]+$/

/**
 * Returns the candidates as the script of that shell reads them. What a shell would not take as it stands is left out.
 */
export function linesFor(shell: Shell, candidates: readonly Candidate[], current: string): string {
  const line = {
    // what stands before = or : is there already
    bash: ({ text }: Candidate): string => text.slice(wordBreak(current)),
    zsh: ({ text, about }: Candidate): string => `${text.replaceAll(':', '\\:')}${about && `:${about}`}`,
    // the script turns the sign into a tab: this program prints none
    fish: ({ text, about }: Candidate): string => `${text}${about && `   # ${about}`}`,
  }[shell]
  return candidates
    .filter(({ text }) => plain.test(text))
    .map((it) => `${line({ ...it, about: oneLineOf(it.about) })}\n`)
    .join('')
}

/** Length of what bash does not replace: it begins a new word after `=` and `:`. */
function wordBreak(current: string): number {
  return Math.max(current.lastIndexOf('='), current.lastIndexOf(':')) + 1
}

const oneLineOf = (about: string): string => harmless(about.replace(/\s+/g, ' '))
