import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const sources = fileURLToPath(new URL('../../../src/', import.meta.url))

/**
 * Returns every point at which a run with these kinds of action can be killed. Reads them from the sources of engine
 * and actions, so that tests cover new ones automatically. Throws if a kind has none.
 */
export function failpointsOf(kinds: readonly string[]): string[] {
  const names = engineFailpoints(({ file }) => file !== undoSteps)
  const [before, after] = [
    names.ofStep.filter((name) => name !== 'after'),
    names.ofStep.filter((name) => name === 'after'),
  ]
  return [
    ...kinds.flatMap((kind) => [...before, ...ofAction(kind), ...after].map((name) => `${kind}:${name}`)),
    ...names.ofRun,
  ]
}

/** Returns the engine's points for undoing such a run. `alsoTaken`: kinds that are undone for some actions only. */
export function undoFailpointsOf(kinds: readonly string[], alsoTaken: readonly string[] = []): string[] {
  const { ofStep } = engineFailpoints(({ file }) => file === undoSteps)
  return kinds
    .filter((kind) => !isKept(kind) || alsoTaken.includes(kind))
    .flatMap((kind) => ofStep.map((name) => `${kind}:${name}`))
}

/**
 * Returns every point at which the undo of such a step can be killed: those of the engine, and those of the handler
 * that its undo passes. A handler that moves messages is killed in its second batch, between two batches.
 */
export function undoInstantsOf(kinds: readonly string[]): string[] {
  const { ofStep } = engineFailpoints(({ file }) => file === undoSteps)
  return kinds
    .filter((kind) => !/undo: null/.test(handlerOf(kind)))
    .flatMap((kind) =>
      [...ofStep, ...ofUndo(kind).map((name) => `undo-${name}${name === 'published' ? '#2' : ''}`)].map(
        (name) => `${kind}:${name}`,
      ),
    )
}

/** Returns the points of moves if the handler moves messages, else its own if it undoes with the same function. */
function ofUndo(kind: string): string[] {
  const text = handlerOf(kind)
  if (/\b(putAside|takeBackAside|putBack)\(/.test(text)) return ofAction('move-messages')
  return /perform: .* =>\s+(\w+)\([^]*undo: .* =>\s+\1\(/.test(text) ? ofAction(kind) : []
}
const undoSteps = 'undo.ts'

/** Returns the points of each step (`before`) and of the run (`verify:before`), without those of an adoption. */
function engineFailpoints(isWanted: (of: { file: string }) => boolean): { ofStep: string[]; ofRun: string[] } {
  const files = readdirSync(`${sources}engine`).filter((file) => file.endsWith('.ts') && isWanted({ file }))
  const text = files.map((file) => read(`engine/${file}`)).join('\n')
  return {
    ofStep: matches(text, /failpoint\(\s*`\$\{action\.kind\}:([\w-]+)`,?\s*\)/g),
    ofRun: matches(text, /failpoint\('([\w:-]+)'\)/g).filter((name) => !name.startsWith('adopt:')),
  }
}

/** Returns the points that the handler of that kind declares. */
function ofAction(kind: string): string[] {
  const declared = /failpoints: \[([^\]]+)\]/.exec(handlerOf(kind))?.[1] ?? ''
  const names = matches(declared, /'([\w-]+)'/g)
  if (names.length === 0) throw new Error(`action ${kind} names no failpoint`)
  return names
}

/** True if at least some actions of that kind have nothing to undo. */
function isKept(kind: string): boolean {
  return /undo: null|isTakenBack/.test(handlerOf(kind))
}

let texts: string[] | undefined

/** The text of that handler alone: a file may hold several. */
function handlerOf(kind: string): string {
  const start = `ActionHandler<'${kind}'> = {`
  texts ??= readdirSync(`${sources}actions`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`actions/${name}`))
  const file = texts.find((text) => text.includes(start))
  if (file === undefined) throw new Error(`there is no action ${kind}`)
  const from = file.indexOf(start)
  return file.slice(from, file.indexOf('\n}\n', from))
}

function read(path: string): string {
  return readFileSync(`${sources}${path}`, 'utf8')
}

function matches(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1]!))]
}
