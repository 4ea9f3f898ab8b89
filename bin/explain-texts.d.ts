import type { Texts as Translated } from '../src/core/translation.ts'

export interface Problem {
  /** `explain/…` */
  file: string
  line: number
  column: number
  text: string
}

export class WrongTexts extends Error {
  readonly problems: readonly Problem[]
}

export const textsModule: RegExp

export function compileTexts(path: string): Promise<string>

export function checkedTexts(
  files: readonly { path: string; bytes: Uint8Array }[],
  facts: { checks: readonly string[]; signatures: readonly string[]; readers: readonly string[] },
): Texts

type Lists = Record<'checkTexts' | 'faultTexts' | 'signatureTexts' | 'termTexts', readonly { id: string }[]>

interface Texts extends Lists {
  /** By language; each is what the program reads */
  translations: Readonly<Record<string, Translated>>
}

export function readTexts(folder: string): Promise<Texts>
