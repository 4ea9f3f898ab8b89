import { AdminError } from '../../core/error.ts'
import type { IntegrationStep, ShownAnswer } from '../../core/external-system.ts'
import { counted } from '../../core/format.ts'
import { mayHide } from './answer.ts'

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
    const message = `${what} ${unseen.join(' and ')}. Such characters count as part of the ${step}`
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
      message: `${what} contains ${named(control)}, but a ${step} must be one line without control characters`,
    }
  const left = hadLineEnd ? '; the line break at the end of the file is ignored' : ''
  if (step === 'user') return { step, status: 'ok', message: `${what}: ${formOf(text)}${left}` }
  return { step, status: 'ok', message: `${what} has no invisible characters at its start or end${left}` }
}

function formOf(user: string): string {
  const isAddress = /^\s*[^\s@]+@[^\s@]+\s*$/.test(user)
  const [is, other] = isAddress ? ['an e-mail address', 'a name'] : ['a name', 'an e-mail address']
  return `the user is ${is}. If the external system refuses this user, try ${other}, which some integrations need`
}

/** Judges the answer to the one attempt with credentials. `before`: the answer without them. */
export function signInStep(answer: ShownAnswer | AdminError, before: ShownAnswer | AdminError | null): IntegrationStep {
  const step = 'sign-in'
  if (answer instanceof AdminError) return { step, status: 'unknown', message: answer.message }
  const { status, said, form } = answer
  const refused = (why: string): IntegrationStep => ({
    step,
    status: 'problem',
    cause: 'credentials',
    message: `${said}: ${why}`,
  })
  const open = (why: string): IntegrationStep => ({ step, status: 'unknown', message: `${said}: ${why}` })
  if (status === 401) return refused('the external system refuses the credentials')
  if (status === 403)
    return refused(
      'the user has no permission for this call, or sign-in is locked for now, for example after too many failed ' +
        'attempts',
    )
  if (status === 429) return open('the external system accepts no more sign-in attempts for now')
  if (status >= 500) return open('the external system reports an internal error')
  if (status >= 300 && status < 400)
    return open('the external system redirects to another address, and no credentials are sent there')
  if (status >= 400 && mayHide(before))
    return {
      step,
      status: 'problem',
      cause: 'api',
      message: `${said}: the external system does not recognize this API call, even with credentials`,
    }
  if (status >= 400)
    return {
      step,
      status: 'problem',
      cause: 'api',
      message: `${said}: the external system seems to accept the credentials, but does not recognize this API call`,
    }
  const isOpen = before !== null && !(before instanceof AdminError) && before.status < 300
  if (isOpen)
    return open(
      'this address also answers without credentials, so it does not show whether they are right: use an ' +
        'address that needs them',
    )
  return form === 'page'
    ? open('the answer is a web page: cannot tell whether sign-in worked')
    : { step, status: 'ok', message: `${said}: the external system accepts the credentials` }
}

/** Returns why sign-in is not tried; null if it may be tried. `before`: the answer without credentials. */
export function keptFromSignIn(
  steps: readonly IntegrationStep[],
  before: ShownAnswer | AdminError | null,
): string | null {
  const first = ['name', 'connection', 'certificate', ...(mayHide(before) ? [] : ['answer'])]
  const stop = steps.find(({ step, status }) => first.includes(step) && status === 'problem')
  if (stop) return `not tried: fix the ${stop.step} first`
  return steps.some(({ step }) => step === 'answer') ? null : 'not tried: the external system was not reached'
}
