import { AdminError } from '../../core/error.ts'
import type { Draft, DraftValue, Environment, Probe, ProbedPart } from '../../runtime/index.ts'
import type { Asker, TextOptions } from './ask.ts'
import { fieldOf, valueAt, withValue } from './flags.ts'

/** A person to ask for what cannot be found, and what their answers are judged by. */
export interface Interview {
  asker: Asker
  directory: string
  environment: Environment
  tell: (message: string) => void
  /** Tries for a moment how a part answers, as a draft describes it */
  tried: (draft: Draft, part: ProbedPart) => Promise<Probe | undefined>
}

/** Milliseconds to read a secret, which may be kept in a pipe */
const timeoutMs = 2000
/** Codes of errors that say that nothing answers at an address, whatever the credentials */
const silent: readonly string[] = ['UNREACHABLE', 'TIMED_OUT', 'UNEXPECTED_ANSWER', 'UNAVAILABLE', 'EXHAUSTED']

/** Asks for one value until its form is valid; returns the draft itself if the answer is left empty. */
export async function askFor(
  draft: Draft,
  flag: string,
  interview: Interview,
  { usual, isNeeded = false }: { usual?: string | undefined; isNeeded?: boolean } = {},
): Promise<Draft> {
  const { assertSecret, judge } = await import('../../runtime/index.ts')
  const { asker, tell } = interview
  const { path, question = '' } = fieldOf(flag)
  const options = { ...interview, subject: 'the answer' }
  let judged: { value: DraftValue; doubt: string | null } | null = null
  const problem: TextOptions['problem'] = async (answer) => {
    judged = null
    if (answer === '' && !isNeeded) return null
    try {
      judged = await judge(path, answer, options)
      if (path.at(-1) === 'password' || path.at(-1) === 'apiToken') await assertSecret(path, answer, options, timeoutMs)
      return null
    } catch (error) {
      if (error instanceof AdminError) return sentenceOf(error)
      throw error
    }
  }
  const answer = await asker.text(flag, question, { usual, problem })
  // the accepted answer was judged last
  const { value, doubt } = (judged as { value: DraftValue; doubt: string | null } | null) ?? {
    value: null,
    doubt: null,
  }
  if (answer === '' || value === null) return draft
  if (doubt !== null) tell(`Note: ${doubt}.`)
  return withValue(draft, path, value)
}

/**
 * Asks for what describes a part, and tries it. If it fails, asks again unless the person keeps the answer: others may
 * reach the part.
 */
export async function askUntilTried(
  ask: () => Promise<Draft>,
  draft: Draft,
  part: ProbedPart,
  { tried, asker, tell }: Interview,
  isFailure: (code: string) => boolean = () => true,
): Promise<Draft> {
  for (;;) {
    const next = await ask()
    if (next === draft) return draft
    const probe = await tried(next, part)
    if (probe?.status !== 'failed' || !isFailure(probe.error.code)) return next
    tell(`It does not answer: ${probe.error.message}`)
    const isKept = await asker.choice(null, 'Keep this answer?', [
      { value: true, name: 'yes, it may be right on another machine, or later' },
      { value: false, name: 'no, ask again' },
    ])
    if (isKept) return next
  }
}

const parts = [
  { part: 'api', flag: 'url', secret: null },
  { part: 'database', flag: 'database-url', secret: 'database-password' },
  { part: 'broker', flag: 'broker-url', secret: 'broker-password' },
  { part: 'sessions', flag: 'sessions-url', secret: 'sessions-password' },
] as const

/**
 * Asks for the parts whose address is unknown, for the passwords that are needed, and for the API token. Returns the
 * draft itself if nothing was answered.
 */
export async function askForRest(
  draft: Draft,
  probes: readonly Probe[],
  withPassword: readonly ProbedPart[],
  interview: Interview,
): Promise<Draft> {
  let next = draft
  for (const { part, flag, secret } of parts) {
    const isAbsent = probes.some((it) => it.part === part && it.status === 'absent')
    if (isAbsent) next = await again(next, flag, part, interview, (code) => silent.includes(code))
    const isAsked = isAbsent ? valueAt(next, fieldOf(flag).path) !== undefined : withPassword.includes(part)
    if (secret !== null && isAsked && valueAt(next, fieldOf(secret).path) === undefined)
      next = await again(next, secret, part, interview, (code) => !silent.includes(code))
  }
  return next.apiToken === undefined
    ? again(next, 'api-token', 'api', interview, (code) => !silent.includes(code))
    : next
}

async function again(
  draft: Draft,
  flag: string,
  part: ProbedPart,
  interview: Interview,
  isFailure: (code: string) => boolean,
): Promise<Draft> {
  return askUntilTried(async () => askFor(draft, flag, interview), draft, part, interview, isFailure)
}

/** Returns an error as a sentence: `The answer must be …. For example: …` */
function sentenceOf({ message, suggestions: [example], code }: AdminError): string {
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
  return code === 'CONFIGURATION' && example !== undefined
    ? `${sentence} ${example.charAt(0).toUpperCase()}${example.slice(1)}`
    : sentence
}
