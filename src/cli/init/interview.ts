import { AdminError, cancelled } from '../../core/error.ts'
import { harmless } from '../../core/harmless.ts'
import { wrap } from '../../output/text.ts'
import type { Environment } from '../../runtime/index.ts'
import type { Draft, DraftValue, KeptAnswers, Probe, ProbedPart } from '../../runtime/init/index.ts'
import type { Asking } from '../repair/confirm.ts'
import { ask } from '../repair/confirm.ts'
import { screenOf, print } from '../write.ts'
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
  const { assertSecret, judge } = await import('../../runtime/init/index.ts')
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
    tell(`This answer does not work: ${probe.error.message}`)
    const isKept = await asker.choice(null, 'Keep this answer?', [
      { value: true, name: 'yes, it may work later, or on another machine' },
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

interface TextOptions {
  /** Answer that is already typed in: Enter accepts it, Ctrl-U clears it */
  usual?: string | undefined
  /** Returns what is wrong with an answer; null if nothing is */
  problem?: (answer: string) => Promise<string | null> | string | null
}

/** Asks for what cannot be found. Both methods throw REFUSED if the question is not answered. */
export interface Asker {
  /** Returns '' if the answer is left empty. Keeps the answer under `question`, and offers it again next time */
  text(question: string, message: string, options?: TextOptions): Promise<string>
  /** Like `text`, for one of `choices`. A null `question` keeps no answer */
  choice<T>(question: string | null, message: string, choices: readonly { value: T; name: string }[]): Promise<T>
}

/** Returns an asker for a person on a terminal. It keeps each answer as soon as it is given. */
export function personAt(
  { signal, ...asking }: Asking & { signal: AbortSignal },
  kept: Pick<KeptAnswers, 'of' | 'keep'>,
): Asker {
  const { output } = asking
  const lines = (text: string): string[] => wrap(harmless(text), screenOf(output).columns)
  const show = (all: readonly string[]): void => print(output, all.map((line) => `${line}\n`).join(''))
  const answerTo = async (
    message: string,
    { usual = '', problem }: TextOptions,
    before: readonly string[] = [],
  ): Promise<string> => {
    const question = lines(message)
    let shown = [...before, ...question]
    let offered = isShowable(usual) ? usual : ''
    for (;;) {
      const answer = (await ask(`${shown.join('\n')} `, asking, signal, offered))?.trim()
      if (answer === undefined) {
        // Ctrl-D leaves the cursor behind the question
        print(output, '\n')
        throw cancelled()
      }
      const wrong = (await problem?.(answer)) ?? null
      if (wrong === null) return answer
      show(lines(wrong))
      shown = question
      offered = ''
    }
  }
  return {
    async text(question, message, options = {}) {
      const answer = await answerTo(message, { ...options, usual: kept.of(question) ?? options.usual })
      await kept.keep(question, answer)
      return answer
    },
    async choice(question, message, choices) {
      const listed = [...lines(message), ...choices.map(({ name }, at) => harmless(`  ${at + 1}  ${name}`))]
      const before = question === null ? -1 : choices.findIndex(({ name }) => name === kept.of(question))
      const chosen = (answer: string): (typeof choices)[number] | undefined =>
        /^\d{1,4}$/.test(answer) ? choices[Number(answer) - 1] : undefined
      const problem = (answer: string): string | null =>
        chosen(answer) ? null : `Type a number from 1 to ${choices.length}.`
      const { name, value } = chosen(
        await answerTo(
          `Which one (1 to ${choices.length})?`,
          { usual: String(Math.max(0, before) + 1), problem },
          listed,
        ),
      )!
      if (question !== null) await kept.keep(question, name)
      return value
    },
  }
}

/** True if the text is printed unchanged. Only such a text is offered as an answer. */
function isShowable(usual: string): boolean {
  return usual === harmless(usual)
}
