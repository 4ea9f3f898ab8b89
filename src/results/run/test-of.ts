import type { TestOfResult } from '../problem.ts'

/** Maximum characters of a text that are kept: four times what the service keeps. */
const mostLetters = 1020

/** Returns what shows which test a result belongs to, as far as present; null if nothing does. */
export function testOf(content: unknown): TestOfResult | null {
  if (typeof content !== 'object' || content === null) return null
  const { name, fullName, status } = content as Record<string, unknown>
  const test: TestOfResult = {}
  if (typeof name === 'string') test.name = cut(name)
  if (typeof fullName === 'string') test.fullName = cut(fullName)
  if (typeof status === 'string') test.status = cut(status)
  return Object.keys(test).length > 0 ? test : null
}

function cut(text: string): string {
  return text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text
}
