import type { ValueEdit, ValueLook } from '../../core/sources.ts'
import { editYaml, YamlEditError } from '../yaml/edit.ts'
import { YamlError } from '../yaml/index.ts'
import { lookAt, parsedYaml } from '../yaml/look.ts'
import type { ParsedYaml } from '../yaml/look.ts'
import { refused } from './read.ts'

/** Returns the text with these edits made, and what each edit changes. Throws REFUSED. */
export function planEdits(
  file: string,
  text: string,
  wanted: readonly Pick<ValueEdit, 'path' | 'to'>[],
): { text: string; edits: ValueEdit[] } {
  const edits: ValueEdit[] = []
  let now = text
  for (const { path, to } of wanted) {
    const { text: from, line } = lookedAt(file, parsedYaml(now), path)
    if (from?.includes('{{'))
      throw refused(file, line, `${path.join('.')} is a template: its value is unknown until it is filled in`)
    const next = edited(file, now, path, to)
    edits.push({ path, from, to, ...spliceOf(now, next) })
    now = next
  }
  return { text: now, edits }
}

/**
 * Returns the text as it was before these edits, byte for byte if nothing else has changed since, and nearly so
 * otherwise. Prefers a way back that leads forward again to exactly this text. Throws REFUSED.
 */
export function revertEdits(file: string, text: string, edits: readonly ValueEdit[]): string {
  return edits.reduceRight(
    (now, edit) =>
      lookedAt(file, parsedYaml(now), edit.path).text === edit.from && edit.from !== edit.to
        ? now
        : reverted(file, now, edit),
    text,
  )
}

/** Returns what is at a path. Throws REFUSED if a text within the file is not YAML. */
export function lookedAt(file: string, parsed: ParsedYaml, path: readonly string[]): ValueLook {
  return orRefused(file, () => lookAt(parsed, path))
}

/** Runs `work`. Throws REFUSED if it throws an error about the text. */
export function orRefused<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof YamlEditError || error instanceof YamlError)
      throw refused(file, error.line, error.message, error)
    throw error
  }
}

/** places to try, so that a short text in a large file does not take minutes */
const mostTries = 64

function reverted(file: string, text: string, edit: ValueEdit): string {
  for (const at of placesOf(text, edit)) {
    const before = text.slice(0, at) + edit.was + text.slice(at + edit.is.length)
    if (leadsTo(before, edit, text)) return before
  }
  return edited(file, text, edit.path, edit.from)
}

function placesOf(text: string, { at, is }: ValueEdit): number[] {
  const places = text.startsWith(is, at) ? [at] : []
  for (
    let next = text.indexOf(is);
    is !== '' && next >= 0 && places.length < mostTries;
    next = text.indexOf(is, next + 1)
  )
    places.push(next)
  return places
}

function leadsTo(before: string, { path, from, to }: ValueEdit, after: string): boolean {
  try {
    return lookAt(parsedYaml(before), path).text === from && editYaml(before, [{ path, to }]) === after
  } catch {
    // cut at another place, it may not be YAML at all
    return false
  }
}

function edited(file: string, text: string, path: readonly string[], to: string | null): string {
  return orRefused(file, () => editYaml(text, [{ path, to }]))
}

/** Returns the characters between the common beginning and the common end of both texts. */
function spliceOf(before: string, after: string): Pick<ValueEdit, 'at' | 'was' | 'is'> {
  const shorter = Math.min(before.length, after.length)
  let at = 0
  while (at < shorter && before[at] === after[at]) at += 1
  let end = 0
  while (end < shorter - at && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return { at, was: before.slice(at, before.length - end), is: after.slice(at, after.length - end) }
}
