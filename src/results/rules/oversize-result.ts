import { grouped } from '../../core/format.ts'
import { limits } from '../../knowledge/limits.ts'
import type { Found } from '../problem.ts'
import type { ResultContent } from '../result-file.ts'

/** Returns the finding for a result that is too large. `content`: null if it was not read. */
export function oversize(bytes: number, content: ResultContent | null): Found {
  const message = `the file has ${grouped(bytes)} bytes, but only ${grouped(limits.resultFileBytes)} are allowed`
  const largest = content === null ? null : largestPart(content)
  if (largest === null || largest.characters * 5 < bytes) return { message }
  return { message: `${message}; the largest part is \`${largest.place}\``, place: largest.place }
}

/** Returns the part with the most characters, of those that tests fill. */
function largestPart(content: ResultContent): { place: string; characters: number } | null {
  const { statusDetails, description, descriptionHtml, steps, parameters, labels, links, attachments } = content
  const parts: Readonly<Record<string, unknown>> = {
    'statusDetails.message': statusDetails?.message,
    'statusDetails.trace': statusDetails?.trace,
    description,
    descriptionHtml,
    steps,
    parameters,
    labels,
    links,
    attachments,
  }
  let largest: { place: string; characters: number } | null = null
  for (const [place, value] of Object.entries(parts)) {
    const characters = sizeOf(value)
    if (characters > (largest?.characters ?? 0)) largest = { place, characters }
  }
  return largest
}

/** Counts the characters of all texts and names in a value, at any depth. */
function sizeOf(value: unknown): number {
  let characters = 0
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const it = pending.pop()
    if (typeof it === 'string') characters += it.length
    else if (typeof it === 'object' && it !== null) {
      for (const [key, inner] of Object.entries(it)) {
        characters += key.length
        pending.push(inner)
      }
    }
  }
  return characters
}
