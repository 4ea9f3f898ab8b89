import { isUtf8 } from 'node:buffer'
import { limits } from '../../knowledge/limits.ts'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { editedJson } from './edit.ts'
import type { Replacement } from './edit.ts'
import { longTextsOf, sourcesOf } from './spots.ts'
import type { LongText } from './spots.ts'

/**
 * What becomes of an attachment's `source`: another one, the reason why it stays as it is, or null where it is as it
 * should be.
 */
export type Moved = { to: string } | { why: string } | null

export interface Mending {
  /** null: sources stay as they are */
  move: ((source: string) => Moved) | null
  /** null: long texts stay as they are; else a name for a new text attachment */
  newName: (() => string) | null
}

/** A place that stays as it was. */
export interface Left {
  rule: RuleId
  place: string
  message: string
}

export interface Mended {
  /** the file's new bytes; null: it stays as it is */
  bytes: Buffer | null
  /** files to be written beside it */
  attachments: readonly { name: string; text: string }[]
  /** so many texts were cut */
  cut: number
  left: readonly Left[]
}

const unchanged: Mended = { bytes: null, attachments: [], cut: 0, left: [] }
const byteOrderMark = '\ufeff'

/**
 * Mends what a result, a container or the globals say; what is no JSON in UTF-8 stays as it is. `isResult`: only those
 * have texts that are cut.
 */
export function mendedFile(bytes: Buffer, isResult: boolean, { move, newName }: Mending): Mended {
  const text = isUtf8(bytes) ? bytes.toString('utf8') : ''
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : ''
  const json = text.slice(mark.length)
  const value = parsed(json)
  if (!isObject(value)) return unchanged
  const left: Left[] = []
  const replacements: Replacement[] = []
  for (const { place, text: source } of move ? sourcesOf(value) : []) {
    const moved = move!(source)
    if (moved === null) continue
    if ('to' in moved) replacements.push({ place, value: moved.to })
    else left.push({ rule: 'nested-attachment', place, message: moved.why })
  }
  const texts = isResult && newName ? longTexts(value, newName, left) : { replacements: [], attachments: [] }
  if (replacements.length + texts.replacements.length + texts.attachments.length === 0) return { ...unchanged, left }
  const edited = editedJson(
    json,
    [...replacements, ...texts.replacements],
    texts.attachments.map(({ name, title }) => ({ name: title, source: name, type: 'text/plain' })),
  )
  const after = edited === null ? null : Buffer.from(mark + edited)
  if (after === null || (after.length > limits.resultFileBytes && bytes.length <= limits.resultFileBytes)) {
    const why =
      after === null
        ? 'it is nested too deep to be changed in place'
        : `with the whole texts as attachments the file would be larger than ${limits.resultFileBytes} bytes`
    return {
      ...unchanged,
      left: [
        ...replacements.map(({ place }) => ({ rule: 'nested-attachment' as const, place, message: why })),
        ...texts.attachments.map(({ place }) => ({ rule: 'long-field' as const, place, message: why })),
      ],
    }
  }
  return { bytes: after, attachments: texts.attachments, cut: texts.replacements.length, left }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // V8 calls itself for each level where an object is made by its reviver or its own stack is short
    if (error instanceof SyntaxError || error instanceof RangeError) return null
    throw error
  }
}

interface Texts {
  replacements: Replacement[]
  attachments: { name: string; text: string; title: string; place: string }[]
}

/** Keeps each long text whole in an attachment, and cuts those by which nothing is told apart. */
function longTexts(value: Record<string, unknown>, newName: () => string, left: Left[]): Texts {
  const texts: Texts = { replacements: [], attachments: [] }
  const known = new Set(
    (Array.isArray(value.attachments) ? (value.attachments as unknown[]) : []).map((it) =>
      isObject(it) ? it.name : null,
    ),
  )
  for (const long of longTextsOf(value)) {
    const { place } = long
    const title = `${place} (whole)`
    const why = reasonToStay(long)
    if (why !== null) left.push({ rule: 'long-field', place, message: why })
    if (long.isSecret || known.has(title)) continue
    texts.attachments.push({ name: newName(), text: long.text, title, place })
    if (long.mayBeCut) texts.replacements.push({ place, value: cut(long.text) })
  }
  return texts
}

function reasonToStay({ mayBeCut, isSecret }: LongText): string | null {
  if (isSecret)
    return 'it is hidden or a secret, so it is not kept in an attachment: shorten it in the code of the test'
  return mayBeCut
    ? null
    : 'it is kept whole in an attachment, but not cut, because it tells results apart or is part of a link: shorten it in the code of the test'
}

/** As the service cuts, but never through a character that takes two places. */
function cut(text: string): string {
  const end = limits.fieldCharacters
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(end - 1)) && /[\udc00-\udfff]/.test(text.charAt(end))
  return text.slice(0, isHalf ? end - 1 : end)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
