import type { IntegrationStep } from '../../core/external-system.ts'
import { counted } from '../../core/format.ts'

/** A user, a password or a token, as it was given. */
export interface Given {
  text: string
  /** Where it came from, for people */
  from: string
  /** True if it may be shown */
  isPublic?: boolean
  /** True if a line end at the end of its file was removed */
  hadLineEnd?: boolean
  /** Why it is missing */
  missing?: string
}

const names: Readonly<Record<string, string>> = {
  ' ': 'blank (U+0020)',
  '\t': 'tab (U+0009)',
  '\n': 'line feed (U+000A)',
  '\r': 'carriage return (U+000D)',
  '\u00a0': 'no-break space (U+00A0)',
  '\u200b': 'zero width space (U+200B)',
  '\ufeff': 'byte order mark (U+FEFF)',
}
/** Maximum number of kinds of invisible characters listed */
const mostKinds = 4
const invisible = '[\\s\\u200b-\\u200f\\u2060\\ufeff]'
const [atStart, atEnd] = [new RegExp(`^${invisible}+`), new RegExp(`(?<!${invisible})${invisible}+$`)]

/** Returns invisible characters before and after a text, such as `ends with 1 blank (U+0020)`; empty if none. */
export function unseenIn(text: string): string[] {
  if (atStart.exec(text)?.[0] === text && text !== '') return [`consists only of ${named(text)}`]
  const [before, after] = [atStart.exec(text)?.[0], atEnd.exec(text)?.[0]]
  return [
    ...(before === undefined ? [] : [`begins with ${named(before)}`]),
    ...(after === undefined ? [] : [`ends with ${named(after)}`]),
  ]
}

/** Returns the characters by kind, such as `2 blanks (U+0020) and 1 tab (U+0009)`. */
function named(characters: string): string {
  const kinds = [...new Set(characters)]
  const told = kinds.map((kind) => {
    const name = names[kind] ?? `U+${kind.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
    const [noun = name, code = ''] = name.split(/(?= \(U)/)
    return `${counted([...characters].filter((it) => it === kind).length, noun)}${code}`
  })
  return told.length > mostKinds ? `${told.slice(0, mostKinds).join(', ')} and more` : told.join(' and ')
}

/**
 * Returns steps that check credentials for invisible characters at either end, and show whether the user is a name or
 * an e-mail address (SPEC.md 5.7).
 */
export function credentialSteps(
  given: { [K in 'user' | 'password' | 'token']?: Given | undefined },
): IntegrationStep[] {
  return (['user', 'password', 'token'] as const).flatMap((step) => {
    const it = given[step]
    return it === undefined ? [] : [stepOf(step, it)]
  })
}

function stepOf(
  step: 'user' | 'password' | 'token',
  { text, from, isPublic = false, hadLineEnd = false, missing }: Given,
): IntegrationStep {
  const what = isPublic ? `\`${text}\`` : `the ${step} (${from})`
  if (missing !== undefined) return { step, status: 'unknown', message: missing }
  if (text === '') return { step, status: 'problem', cause: 'credentials', message: `${from} is empty` }
  const unseen = unseenIn(text)
  if (unseen.length > 0) {
    const message = `${what} ${unseen.join(' and ')}, which counts as part of the ${step}`
    return {
      step,
      status: 'problem',
      cause: 'credentials',
      message: `${message}${step === 'user' ? `; ${formOf(text)}` : ''}`,
    }
  }
  const control = (text.match(/\p{Cc}/gu) ?? []).join('')
  if (control !== '')
    return {
      step,
      status: 'problem',
      cause: 'credentials',
      message: `${what} contains ${named(control)}, but a ${step} is one line`,
    }
  const left = hadLineEnd ? '; the line end at the end of the file is ignored' : ''
  if (step === 'user') return { step, status: 'ok', message: `${what}: ${formOf(text)}${left}` }
  return { step, status: 'ok', message: `${what} has no invisible characters at either end${left}` }
}

function formOf(user: string): string {
  const isAddress = /^\s*[^\s@]+@[^\s@]+\s*$/.test(user)
  const [is, other] = isAddress ? ['an e-mail address', 'a name'] : ['a name', 'an e-mail address']
  return `it is ${is}. If it is refused, try ${other}: some integrations need that`
}
