import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const sources = fileURLToPath(new URL('../../../src/', import.meta.url))

/**
 * Every instant at which a run of these kinds of action can be killed. Read from the sources of engine and actions, so
 * that a new one is tested by itself; throws where a kind has none.
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

/** The same of a run that is taken back. `alsoTaken`: kinds of which not each action is. */
export function undoFailpointsOf(kinds: readonly string[], alsoTaken: readonly string[] = []): string[] {
  const { ofStep } = engineFailpoints(({ file }) => file === undoSteps)
  return kinds
    .filter((kind) => !isKept(kind) || alsoTaken.includes(kind))
    .flatMap((kind) => ofStep.map((name) => `${kind}:${name}`))
}

/**
 * Every instant at which the undo of such a step can be killed: those of the engine, and those of its handler that its
 * undo comes by. What moves messages is killed in its second batch as well, where it is between two.
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

/** Those of moves where it moves messages, else its own where it undoes by what it does. */
function ofUndo(kind: string): string[] {
  const text = handlerOf(kind)
  if (/\b(putAside|takeBackAside|putBack)\(/.test(text)) return ofAction('move-messages')
  return /perform: .* =>\s+(\w+)\([^]*undo: .* =>\s+\1\(/.test(text) ? ofAction(kind) : []
}

/** All of them in the campaign; else every n-th, from that place on, so that all ways together come by each. */
export function spread<T>(all: readonly T[], n: number, place: number): T[] {
  return isCampaign ? [...all] : all.filter((_, index) => index % n === place)
}

/** `npm run campaign` */
export const isCampaign = process.env['TESTOPS_ADMIN_CAMPAIGN'] === '1'
const undoSteps = 'undo.ts'

/** Of each step (`before`), and of the run as a whole (`verify:before`); those of an adoption are no part of a run. */
function engineFailpoints(isWanted: (of: { file: string }) => boolean): { ofStep: string[]; ofRun: string[] } {
  const files = readdirSync(`${sources}engine`).filter((file) => isWanted({ file }))
  const text = files.map((file) => read(`engine/${file}`)).join('\n')
  return {
    ofStep: matches(text, /failpoint\(\s*`\$\{action\.kind\}:([\w-]+)`,?\s*\)/g),
    ofRun: matches(text, /failpoint\('([\w:-]+)'\)/g).filter((name) => !name.startsWith('adopt:')),
  }
}

/** Those that the handler of that kind declares. */
function ofAction(kind: string): string[] {
  const declared = /failpoints: \[([^\]]+)\]/.exec(handlerOf(kind))?.[1] ?? ''
  const names = matches(declared, /'([\w-]+)'/g)
  if (names.length === 0) throw new Error(`action ${kind} names no failpoint`)
  return names
}

/** Whether there is nothing to take back, of some of them at least. */
function isKept(kind: string): boolean {
  return /undo: null|isTakenBack/.test(handlerOf(kind))
}

function handlerOf(kind: string): string {
  const found = readdirSync(`${sources}actions`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`actions/${name}`))
    .find((text) => text.includes(`ActionHandler<'${kind}'> = {`))
  if (found === undefined) throw new Error(`there is no action ${kind}`)
  return found
}

function read(path: string): string {
  return readFileSync(`${sources}${path}`, 'utf8')
}

function matches(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1]!))]
}
