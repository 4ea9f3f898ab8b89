import { Chalk } from 'chalk'
import type { CheckReport } from '../core/check.ts'
import { harmless } from '../core/harmless.ts'
import { inEnglish } from '../core/translation.ts'
import type { Say } from '../core/translation.ts'
import { printable, widthOf } from './text.ts'

export interface Paint {
  good: (text: string) => string
  bad: (text: string) => string
  warn: (text: string) => string
  doubt: (text: string) => string
  strong: (text: string) => string
  faint: (text: string) => string
}

/**
 * Returns colours for a screen; without colours, every function returns the text alone. Foreign text is made harmless.
 */
export function paintFor(screen: Screen): Paint {
  const chalk = new Chalk({ level: screen.colour ? 1 : 0 })
  return {
    good: (text) => chalk.green(harmless(text)),
    bad: (text) => chalk.red(harmless(text)),
    warn: (text) => chalk.yellow(harmless(text)),
    doubt: (text) => chalk.magenta(harmless(text)),
    strong: (text) => chalk.bold(harmless(text)),
    faint: (text) => chalk.dim(harmless(text)),
  }
}

/** The width of what shows a text, and whether it understands colours. `say`: puts headings in its language. */
export interface Screen {
  columns: number
  colour: boolean
  say?: Say | undefined
}

/** A heading, verdict or label in the language of a screen or document. */
export function saying({ say = inEnglish }: { say?: Say | undefined }): Say {
  return say
}

/** A screen for files, pipes and golden files. */
export const plainScreen: Screen = { columns: 80, colour: false }

/** The outcome of a check, in one word. */
export type StatusWord = 'ok' | 'warning' | 'error' | 'skipped' | 'unknown'

export function statusWord(check: Pick<CheckReport, 'status' | 'severity'>): StatusWord {
  return check.status === 'problem' ? (check.severity ?? 'error') : check.status
}

const signs: Record<StatusWord, string> = { ok: '✔', warning: '!', error: '✖', skipped: '-', unknown: '?' }

function wordsIn(say: Say): Record<StatusWord, string> {
  return {
    ok: say('ok'),
    warning: say('warning'),
    error: say('error'),
    skipped: say('skipped'),
    unknown: say('unknown'),
  }
}

/** Returns a sign and a word without colours. */
export function plainBadge(word: StatusWord, say: Say): string {
  return `${signs[word]} ${wordsIn(say)[word]}`
}

/** Returns the columns of the widest badge. */
export function badgeWidth(say: Say): number {
  return Math.max(...Object.values(wordsIn(say)).map((word) => widthOf(`x ${word}`)))
}

/** Returns a sign and a word: colour alone says nothing. */
export function badge(word: StatusWord, paint: Paint, say: Say = inEnglish): string {
  const colours: Record<StatusWord, (text: string) => string> = {
    ok: paint.good,
    warning: paint.warn,
    error: paint.bad,
    skipped: paint.faint,
    unknown: paint.doubt,
  }
  return colours[word](plainBadge(word, say))
}

/** Returns what to say about a check in one line. */
export function oneLine(check: CheckReport): string {
  return printable(check.findings?.[0]?.message ?? check.error?.message ?? check.reason ?? check.detail ?? check.title)
}
