import type { readTexts } from './explain-texts.js'

type Read = Awaited<ReturnType<typeof readTexts>>

export function sumsOf(texts: Read, language: string): Readonly<Record<string, string>>

export function sumsText(sums: Readonly<Record<string, string>>): string
