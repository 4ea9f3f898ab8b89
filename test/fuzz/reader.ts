import type { Syntax } from './mutate.ts'

/** A reader of ours that texts from outside come to, as the fuzzing drives it. */
export interface Reader {
  name: string
  syntax: Syntax
  /** valid documents that inputs are made from */
  seeds: readonly string[]
  /** Makes it ready; `folder` is an empty one of its own. */
  open(folder: string): Promise<OpenReader>
}

export interface OpenReader {
  /** Reads one input to its end, and prints what it comes to. Only `AdminError` may be thrown. */
  read: (input: Buffer) => Promise<void>
  close?: () => Promise<void>
}

/** Fails where a text for people would move a cursor or change colours. */
export function shown(text: string): void {
  const raw = /[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.exec(text)
  if (raw)
    throw new Error(
      `raw U+${raw[0].charCodeAt(0).toString(16).padStart(4, '0')} is printed: ` +
        `${JSON.stringify(text.slice(Math.max(0, raw.index - 60), raw.index + 20))}`,
    )
}

/** Fails where a document cannot be written as JSON. */
export function shownAsJson(value: unknown): void {
  if (typeof JSON.stringify(value, null, 2) !== 'string') throw new Error('no JSON document')
}
