import { Chalk } from 'chalk'
import type { Screen } from './screen.ts'

export interface Paint {
  good: (text: string) => string
  bad: (text: string) => string
  warn: (text: string) => string
  doubt: (text: string) => string
  strong: (text: string) => string
  faint: (text: string) => string
}

/** Colours for a screen; on one without them, every function returns the text as it is. */
export function paintFor(screen: Screen): Paint {
  const chalk = new Chalk({ level: screen.colour ? 1 : 0 })
  return {
    good: (text) => chalk.green(text),
    bad: (text) => chalk.red(text),
    warn: (text) => chalk.yellow(text),
    doubt: (text) => chalk.magenta(text),
    strong: (text) => chalk.bold(text),
    faint: (text) => chalk.dim(text),
  }
}
