import type { RabbitmqLine } from './types.ts'

/** The product asks for 15 or later (FIELD-NOTES.md 0). */
export const oldestPostgres = 15

export const lineNames: Readonly<Record<RabbitmqLine, string>> = { '3': 'one before 4.0', '4.3': '4.0 or later' }

export function isOfLine(version: string, line: RabbitmqLine): boolean {
  return Number.parseInt(version, 10) >= 4 === (line === '4.3')
}
