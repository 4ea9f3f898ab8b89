import { isAbsolute, resolve } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { didYouMean, suggestNearest } from '../../core/nearest.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { commaList, nested, sentence } from '../../core/shell-command.ts'
import type { FileReference, Node, Position, SecretReference, Section, Value } from './nodes.ts'

/**
 * Returns a command that works from any folder. A relative path to the program is relative to the configuration, never
 * to the working directory, where others may write; a plain name is looked up in PATH.
 */
export function commandOf([program = '', ...parameters]: readonly string[], folder: string): [string, ...string[]] {
  return [program.includes('/') ? resolve(folder, program) : program, ...parameters]
}

type Path = readonly (string | number)[]

interface Place {
  /** Returns the line of the value at this path, or of the nearest one around it */
  at(path: Path): Position
  /** Folder that relative paths start from */
  directory: string
}

export const secretForms = '{env: NAME}, {file: PATH}, {command: [PROGRAM, …]} or {kubernetesSecret: NAME/KEY}'

/** Maximum number of mistakes listed */
const mostMistakes = 20

/**
 * Validates a document by the schema and gives it its type. Throws CONFIGURATION with all mistakes, in the order of the
 * file.
 */
export function validate<N extends Node>(root: N, document: unknown, place: Place): Value<N> {
  const mistakes: AdminError[] = []
  const value = attempt(() => read(document, root, []))
  if (mistakes.length > 0) throw together(mistakes)
  return value as Value<N>

  /** Collects a mistake, so that others are found too; then no value is returned. */
  function attempt(part: () => unknown): unknown {
    try {
      return part()
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      return void mistakes.push(error)
    }
  }

  function read(value: unknown, node: Node, path: Path): unknown {
    switch (node.kind) {
      case 'text':
        return readText(value, path, node.problem)
      case 'file':
        return fileAt(readText(value, path, node.problem), path)
      case 'whole':
        if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
        throw wrong(path, `must be a whole number, 0 or more, not ${typeof value === 'number' ? value : kindOf(value)}`)
      case 'choice': {
        const word = readText(value, path)
        if (!node.values.includes(word))
          throw wrong(path, `must be ${alternatives(node.values)}`, suggestNearest(word, node.values))
        return word
      }
      case 'secret':
        return readSecret(value, path)
      case 'list':
        return readList(value, node, path)
      case 'named': {
        const names = mapping(value, path)
        return new Map(
          Object.keys(names).map((name) => {
            attempt(() => checkName(name, node.problem, path))
            return [name, attempt(() => read(names[name], node.of, [...path, name]))]
          }),
        )
      }
      case 'section':
        return readSection(value, node, path)
    }
  }

  function readSection(value: unknown, node: Section, path: Path): unknown {
    const given = mapping(value, path)
    const names = Object.keys(given)
    for (const name of node.required) if (!names.includes(name)) mistakes.push(wrong(path, `lacks the key \`${name}\``))
    const [one, other] = node.exclusive?.filter((name) => names.includes(name)) ?? []
    if (other) mistakes.push(wrong([...path, other], `cannot be combined with \`${one}\``, 'keep one of the two'))
    return Object.fromEntries(
      names.map((name) => [
        name,
        attempt(() => {
          if (!Object.hasOwn(node.keys, name)) throw unknownKey(name, node, path)
          return read(given[name], node.keys[name]!, [...path, name])
        }),
      ]),
    )
  }

  function readList(value: unknown, node: Extract<Node, { kind: 'list' }>, path: Path): unknown {
    if (!Array.isArray(value)) {
      if (node.orOne) return [read(value, node.of, path)]
      throw wrong(path, `must be a list, not ${kindOf(value)}`)
    }
    if (value.length === 0) throw wrong(path, 'is an empty list', 'leave the key out')
    return value.map((item: unknown, index) => attempt(() => read(item, node.of, [...path, index])))
  }

  function readText(value: unknown, path: Path, problemOf?: (text: string) => string | null): string {
    if (typeof value === 'number' || typeof value === 'boolean') {
      throw wrong(
        path,
        `must be text, not ${kindOf(value)}`,
        typeof value === 'number'
          ? sentence`put it in quotes: "${value}"`
          : value
            ? 'put it in quotes: "true"'
            : 'put it in quotes: "false"',
      )
    }
    if (typeof value !== 'string') throw wrong(path, `must be text, not ${kindOf(value)}`)
    if (value.trim() === '') throw wrong(path, 'is empty', 'leave the key out')
    const problem = problemOf?.(value)
    if (problem) throw wrong(path, problem)
    return value
  }

  function readSecret(value: unknown, path: Path): SecretReference {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw wrong(path, `is a secret and does not belong here; instead, say where the secret is kept: ${secretForms}`)
    }
    const given = mapping(value, path)
    const names = Object.keys(given)
    const [form] = names
    if (names.length !== 1 || form === undefined) throw wrong(path, `must have one key: ${secretForms}`)
    const at = place.at(path)
    const inner = [...path, form]
    if (form === 'env') return { at, form, variable: readText(given[form], inner, variableProblem) }
    if (form === 'file') return { at, form, path: fileAt(readText(given[form], inner), inner).path }
    if (form === 'kubernetesSecret') return { at, form, name: readText(given[form], inner, clusterSecretProblem) }
    if (form !== 'command') throw wrong(inner, `is not a valid reference to a secret; use ${secretForms}`)
    return {
      at,
      form,
      command: commandOf(readList(given[form], commandWords, inner) as readonly string[], place.directory),
    }
  }

  function fileAt(path: string, at: Path): FileReference {
    return { path: isAbsolute(path) ? path : resolve(place.directory, path), at: place.at(at) }
  }

  function checkName(name: string, problemOf: (name: string) => string | null, path: Path): void {
    const problem = problemOf(name)
    if (problem) throw wrong([...path, name], problem)
  }

  function mapping(value: unknown, path: Path): Record<string, unknown> {
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)) {
      return value as Record<string, unknown>
    }
    throw wrong(path, `must be a section with keys, not ${kindOf(value)}`)
  }

  function unknownKey(name: string, node: Section, path: Path): AdminError {
    const known = Object.keys(node.keys)
    const home = homeOf(name, root)
    const hint = home === null ? didYouMean(name, known) : `\`${name}\` belongs in ${home}`
    const message = `unknown key \`${name}\` at ${place.at([...path, name])}${hint ? `; ${hint}` : ''}`
    return new AdminError('CONFIGURATION', message, [sentence`keys allowed there: ${nested(commaList(known))}`])
  }

  function wrong(path: Path, what: string, suggestion?: Suggestion): AdminError {
    const subject = path.length === 0 ? 'the configuration' : `\`${keyOf(path)}\``
    return new AdminError('CONFIGURATION', `${subject} at ${place.at(path)} ${what}`, suggestion ? [suggestion] : [])
  }
}

/** Returns one mistake as it is; several as a list, each with its remedy. */
export function together(mistakes: readonly AdminError[]): AdminError {
  const [first] = mistakes
  if (first && mistakes.length === 1) return first
  const told = mistakes.slice(0, mostMistakes).map(({ message, suggestions }) => [message, ...suggestions].join('; '))
  const more = mistakes.length - told.length
  return new AdminError(
    'CONFIGURATION',
    [`there are ${mistakes.length} mistakes`, ...told, ...(more > 0 ? [`and ${more} more`] : [])].join('\n- '),
  )
}

const commandWords = { kind: 'list', about: '', example: '', of: { kind: 'text', about: '', example: '' } } as const

function variableProblem(name: string): string | null {
  return /^[A-Za-z_]\w*$/.test(name) ? null : 'is not the name of an environment variable'
}

function clusterSecretProblem(name: string): string | null {
  return /^(?:[^/\s]+\/)?[^/\s]+\/[^/\s]+$/.test(name)
    ? null
    : 'must name a key of a Secret: NAME/KEY, or NAMESPACE/NAME/KEY'
}

/** Returns a path as a key, without the deployment, which the line shows anyway: `host.commands.start`. */
function keyOf(path: Path): string {
  const within = path[0] === 'deployments' && path.length > 2 ? path.slice(2) : path
  return within.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${key}`)).join('')
}

/** Returns the section with such a key if exactly one has it; otherwise null. */
function homeOf(key: string, node: Node, name = 'the top of the file'): string | null {
  const homes = sectionsWith(key, node, name)
  return homes.length === 1 ? homes[0]! : null
}

function sectionsWith(key: string, node: Node, name: string): string[] {
  if (node.kind === 'list') return sectionsWith(key, node.of, name)
  if (node.kind === 'named') return sectionsWith(key, node.of, 'the deployment itself')
  if (node.kind !== 'section') return []
  const here = Object.hasOwn(node.keys, key) ? [name] : []
  return [...here, ...Object.entries(node.keys).flatMap(([inner, value]) => sectionsWith(key, value, `\`${inner}\``))]
}

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return value instanceof Date ? 'a date' : 'a section with keys'
  return typeof value === 'string' ? 'text' : typeof value === 'number' ? 'a number' : 'true or false'
}
