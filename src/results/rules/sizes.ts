import { grouped } from '../../core/format.ts'
import { limits } from '../../knowledge/limits.ts'
import type { Found } from '../problem.ts'
import type { ResultContent } from '../result-file.ts'
import type { FileRule } from '../rule.ts'
import { isSecretParameter, quoted } from './said.ts'

const most = limits.fieldCharacters

/**
 * Finds long texts among those that FAULTS.md names: name, full name, and the texts of labels, links and parameters.
 * Counts UTF-16 code units (see `limits.fieldCharacters`): 128 emoji are 256.
 */
export const longField: FileRule = {
  id: 'long-field',
  judge: ({ content }) => (isWithin(content) ? [] : longFields(content)),
}

/** True if no text is too long. Runs for every result. */
function isWithin({ name, fullName, labels, links, parameters }: ResultContent): boolean {
  if (isLong(name) || isLong(fullName)) return false
  if (labels)
    for (let at = 0; at < labels.length; at += 1)
      if (isLong(labels[at]?.value) || isLong(labels[at]?.name)) return false
  if (links)
    for (let at = 0; at < links.length; at += 1)
      if (isLong(links[at]?.url) || isLong(links[at]?.name) || isLong(links[at]?.type)) return false
  if (parameters)
    for (let at = 0; at < parameters.length; at += 1)
      if (isLong(parameters[at]?.value) || isLong(parameters[at]?.name)) return false
  return true
}

function isLong(text: string | null | undefined): text is string {
  return text != null && text.length > most
}

interface Field {
  place: string
  text: string | null | undefined
  /** what the text belongs to, if the place does not show it */
  of?: string
  isSecret?: boolean
}

function longFields({ name, fullName, labels, links, parameters }: ResultContent): Found[] {
  const fields: Field[] = [
    { place: 'name', text: name },
    { place: 'fullName', text: fullName },
  ]
  labels?.forEach((label, at) => {
    fields.push(
      { place: `labels[${at}].name`, text: label?.name },
      { place: `labels[${at}].value`, text: label?.value, of: `of the label ${named(label?.name)}` },
    )
  })
  links?.forEach((link, at) => {
    for (const key of ['name', 'url', 'type'] as const) fields.push({ place: `links[${at}].${key}`, text: link?.[key] })
  })
  parameters?.forEach((it, at) => {
    const isSecret = it !== null && isSecretParameter(it)
    fields.push(
      { place: `parameters[${at}].name`, text: it?.name },
      { place: `parameters[${at}].value`, text: it?.value, of: `of the parameter ${named(it?.name)}`, isSecret },
    )
  })
  return fields.filter(({ text }) => isLong(text)).map(foundOf)
}

function foundOf({ place, text, of, isSecret }: Field): Found {
  const beginning = isSecret ? '' : `: ${quoted(text!, 40)}`
  const found = {
    place,
    message:
      `\`${place}\`${of ? ` ${of}` : ''} has ${grouped(text!.length)} characters, but the service keeps only ` +
      `${most}${beginning}`,
  }
  return place === 'fullName' ? { ...found, ...ofFullName } : found
}

/** Effect and remedy for the full name: results are matched by a value derived from it (SPEC.md 2). */
const ofFullName = {
  effect:
    `The service matches results to test cases by the first ${most} characters of the full name. Tests whose ` +
    'full names differ only after that can become one test.',
  remedy: 'Shorten the names of the test, its class or its folders. Put the details into the description.',
}

function named(name: string | null | undefined): string {
  return quoted(name ?? '', 40)
}

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
