import { Chalk } from 'chalk'
import { harmless } from '../core/harmless.ts'
import type { Screen } from './screen.ts'

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
