import { errorText } from '../../output/error-text.ts'
import type { ErrorDocument } from '../../output/error-text.ts'
import { countOf } from '../../output/text.ts'
import { grouped } from '../../core/format.ts'
import { harmlessLines } from '../../core/harmless.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** What a tool returns: a short text for the model, and the document for a program. */
export interface ToolAnswer {
  [key: string]: unknown
  content: [{ type: 'text'; text: string }]
  structuredContent: Record<string, unknown>
  isError?: true
}

/** Maximum number of characters of an answer's document, as JSON */
export const mostOfDocument = 40_000
/** Maximum number of characters of an answer's text */
export const mostOfText = 12_000
/** Maximum characters of a command: nobody types more */
const mostOfCommand = 2000

/** What a document lost so that it fits. */
interface Bounded {
  document: Record<string, unknown>
  /** One sentence for each kind of part that was left out; empty if the document is whole */
  leftOut: string[]
}

/** Entries that a list keeps, and characters that a text keeps, from the mildest cut to the hardest */
const cuts = [
  [Infinity, Infinity],
  [500, 4000],
  [200, 2000],
  [100, 1000],
  [50, 600],
  [20, 400],
  [10, 300],
  [5, 200],
  [2, 120],
  [0, 60],
] as const

/** Properties that an object keeps at least: the objects of this program's documents have fewer */
const fewProperties = 40

/**
 * Returns a document of at most `most` characters as JSON. Shortens its lists and texts as little as that takes. A list
 * first loses entries that are `ok` or `skipped`.
 */
export function bounded(document: object, most = mostOfDocument): Bounded {
  for (const [entries, characters] of cuts) {
    const cut = new Cut(entries, characters)
    const shorter = cut.of(document, '') as Record<string, unknown>
    if (JSON.stringify(shorter).length <= most) return { document: shorter, leftOut: cut.leftOut() }
  }
  return { document: {}, leftOut: ['the whole document, which is too large'] }
}

/** Makes one cut, and counts what it leaves out. */
class Cut {
  readonly #lists = new Map<string, { kept: number; of: number }>()
  #texts = 0

  constructor(
    private readonly entries: number,
    private readonly characters: number,
  ) {}

  of(value: unknown, path: string): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (Array.isArray(value)) return this.#kept(value, path, this.entries).map((item) => this.of(item, path))
    if (typeof value !== 'object' || value === null) return value
    const all = Object.entries(value)
    const kept = this.#kept(all, path, Math.max(this.entries, fewProperties))
    return Object.fromEntries(
      kept.map(([key, item]) => [this.#text(key), this.of(item, path === '' ? key : `${path}.${key}`)]),
    )
  }

  leftOut(): string[] {
    return [
      ...[...this.#lists]
        .filter(([, { kept, of }]) => kept < of)
        .map(([path, { kept, of }]) => `\`${path}\` has ${grouped(kept)} of ${grouped(of)} entries`),
      ...(this.#texts === 0 ? [] : [`${countOf(this.#texts, 'long text')} cut short`]),
    ]
  }

  #text(text: string): string {
    if (text.length <= this.characters) return harmlessLines(text)
    this.#texts += 1
    const rest = text.length - this.characters
    return `${harmlessLines(text.slice(0, this.characters))}… (${grouped(rest)} more characters)`
  }

  #kept<T>(all: readonly T[], path: string, most: number): readonly T[] {
    if (all.length <= most) return all
    const places = all
      .map((item, at) => ({ at, isQuiet: isQuiet(item) }))
      .sort((one, other) => Number(one.isQuiet) - Number(other.isQuiet) || one.at - other.at)
      .slice(0, most)
      .map(({ at }) => at)
    const before = this.#lists.get(path) ?? { kept: 0, of: 0 }
    this.#lists.set(path, { kept: before.kept + most, of: before.of + all.length })
    const chosen = new Set(places)
    return all.filter((_, at) => chosen.has(at))
  }
}

/** True for a check that found nothing wrong. */
function isQuiet(item: unknown): boolean {
  const { status } = (typeof item === 'object' && item !== null ? item : {}) as { status?: unknown }
  return status === 'ok' || status === 'skipped'
}

/** What a command printed, and what to say about it. */
interface Printed {
  document: object
  exitCode: number
  /** The command that a person types */
  command: Suggestion
  /** Returns the text of the document, for people */
  text: (document: object) => string
  /** How to ask for less */
  less: string
}

/** Returns a command's document as the answer of a tool: without secrets, and bounded. */
export function answerOf({ document, exitCode, command, text, less }: Printed): ToolAnswer {
  // first of all: half a secret is not found
  const shown = withoutPlacesOfSecrets(withoutSecretsIn(document))
  const said = withoutSecretsIn(harmlessLines(text(shown))).trimEnd()
  const { document: kept, leftOut } = bounded(shown)
  if (said.length > mostOfText)
    leftOut.push(`the text has ${grouped(mostOfText)} of ${grouped(said.length)} characters`)
  const isTyped = command.length <= mostOfCommand
  if (!isTyped) leftOut.push(`the command has ${grouped(command.length)} characters`)
  const notes = leftOut.length === 0 ? [] : [`Left out: ${leftOut.join('; ')}. ${less}`]
  const last = isTyped ? [`Command: ${command}`] : []
  return {
    content: [{ type: 'text', text: [said.slice(0, mostOfText), ...notes, ...last].join('\n\n') }],
    structuredContent: {
      ...(isTyped && { command }),
      exitCode,
      document: kept,
      ...(leftOut.length > 0 && { leftOut, less }),
    },
  }
}

const whatIsMissing = /^the secret at \S+ (?:is missing|cannot be used)/

/** Returns a document that tells which secrets are missing, but not the files and commands that should hold them. */
export function withoutPlacesOfSecrets<T extends object>(document: T): T {
  const places: string[] = []
  const told = mapped(document, (value) => {
    if (!isSecretMissing(value)) return value
    const [what = 'a secret of the configuration is missing'] = whatIsMissing.exec(value.message) ?? []
    const place = value.message.slice(what.length).replace(/^: /, '')
    places.push(...[place, ...value.suggestions].filter((it) => it.length > 3))
    return { ...value, message: what, suggestions: ['testops-admin doctor   # shows on a terminal what is missing'] }
  })
  if (places.length === 0) return document
  // other parts of the document may repeat it
  const hidden = (text: string): string => places.reduce((rest, place) => rest.replaceAll(place, '[secret]'), text)
  return mapped(told, (value) => (typeof value === 'string' ? hidden(value) : value)) as T
}

function isSecretMissing(value: unknown): value is { message: string; suggestions: readonly string[] } {
  if (typeof value !== 'object' || value === null) return false
  const { code, message, suggestions } = value as Record<string, unknown>
  return code === 'SECRET_MISSING' && typeof message === 'string' && Array.isArray(suggestions)
}

/** Returns plain data with each of its parts changed, the outer ones first. */
function mapped(value: unknown, change: (value: unknown) => unknown): unknown {
  const changed = change(value)
  if (Array.isArray(changed)) return changed.map((item) => mapped(item, change))
  if (typeof changed !== 'object' || changed === null) return changed
  return Object.fromEntries(Object.entries(changed).map(([key, item]) => [key, mapped(item, change)]))
}

/** Returns an error as the answer of a tool: its code, what happened and what to do next, without secrets. */
export function errorAnswer({ error }: ErrorDocument): ToolAnswer {
  const { document } = bounded(withoutPlacesOfSecrets(withoutSecretsIn({ error })))
  const shown = document as unknown as ErrorDocument
  const text = errorText(shown, { columns: 100, colour: false }).slice(0, mostOfText)
  return {
    content: [{ type: 'text', text: `${text.trimEnd()}\n\nCode: ${shown.error.code}` }],
    structuredContent: document,
    isError: true,
  }
}
