import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Duplex } from 'node:stream'
import { endOf, endOfProcess, Newest, notStarted, start, Stopper } from '../../adapters/process.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import { programCommand } from '../../core/package-parts.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** What the process of a check file is told first. */
export interface Orders {
  /** Absolute path; the text is what was read there and judged */
  file: string
  text: string
  /** Milliseconds after which the process ends by itself, whatever becomes of this one */
  mostMs: number
  /** Megabytes of objects that it may hold */
  mostHeap: number
  /** Null: only tell what the file declares */
  run: { sources: Readonly<Record<string, OfferedSource>>; deployment: object } | null
}

/** A source as a check sees it: its facts, and the questions that it may ask. */
export interface OfferedSource {
  parts: readonly object[]
  isList: boolean
  methods: readonly string[]
}

/** The answer to a question of a check. */
export type ToCheck = { id: number; value: unknown } | { id: number; error: { code: string; message: string } }

/** What a check file may say; nothing of it is trusted. */
export type FromCheck = { ask: Question } | { declared: unknown } | { outcome: unknown } | { failed: FailedCheck }

export interface Question {
  id: number
  source: string
  part: number
  method: string
  input: readonly unknown[]
}

export interface FailedCheck {
  step: 'load' | 'run'
  message: string
  /** Line of the file; null: not known */
  line: number | null
  /** The question whose failure it is */
  question?: number
}

export interface Conversation {
  /** Name of the check, or of its file, as errors begin */
  what: string
  /** Milliseconds that it may take: as it is told, and really */
  deadlineMs: number
  waitMs: number
  /** What to type if that is too short, before the file is looked at */
  ifLate?: readonly Suggestion[]
  signal?: AbortSignal | undefined
  /** Answers a question; what it throws is the answer as well */
  answer: (question: Question) => Promise<unknown>
}

/** Megabytes that a check may use: of objects, and in all */
const [mostHeap, mostMemory] = [128, 512]
/** Questions of one check, and bytes of all that it says */
const [mostQuestions, mostSaid] = [1000, 1_000_000]
/** Bytes of one answer, and of all answers */
const [mostAnswer, mostAnswers] = [8_000_000, 64_000_000]
/** Bytes that it may print, of which the last are kept for an error */
const [mostPrinted, lastPrinted] = [10_000_000, 10_000]
/** Milliseconds between two looks at its memory */
const lookMs = 100

/** The command that runs check files. */
function programOf(): readonly [string, ...string[]] {
  const found = programCommand('runtime/own-checks/program.js', ['--experimental-vm-modules', '--no-warnings'])
  if (found === null) throw new Error('the program that runs check files is missing: run `npm run build`')
  return found
}

/**
 * Runs a check file in a process of its own, and returns what it declares, or its outcome; both may be anything. The
 * process and what it has started are gone afterwards. Throws FAILED, TIMED_OUT, INTERRUPTED, UNAVAILABLE,
 * CONFIGURATION for a file that cannot be loaded, and the error of a question that the check did not catch.
 */
export async function converse(
  orders: Omit<Orders, 'mostMs' | 'mostHeap'>,
  conversation: Conversation,
): Promise<unknown> {
  const { what, deadlineMs, waitMs, ifLate = [], signal } = conversation
  const { file } = orders
  const [program, ...words] = programOf()
  const child = start(program, words, {
    channel: true,
    directory: dirname(file),
    // it would change how the process runs, or stop it for a debugger
    environment: { NODE_OPTIONS: undefined },
  })
  const stop = new Stopper(child, true, { signal: 'SIGKILL', graceMs: 0 })
  const printed = { stdout: new Newest(lastPrinted), stderr: new Newest(lastPrinted) }
  const shown = [command`less ${asPath(file)}`]
  const failed = (why: string): AdminError => new AdminError('FAILED', `${what} ${why}`, shown)
  let bytes = 0
  let timers: NodeJS.Timeout[] = []
  let abort: () => void = () => undefined
  try {
    return await new Promise<unknown>((resolve, reject) => {
      abort = () => reject(new AdminError('INTERRUPTED', `${what} was interrupted`))
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', abort, { once: true })
      timers = [
        setTimeout(() => {
          const late = `${what} did not ${orders.run ? 'finish' : 'load'} within ${deadlineMs / 1000} s`
          reject(new AdminError('TIMED_OUT', late, [...ifLate, ...shown]))
        }, waitMs),
        setInterval(() => {
          if (memoryOf(child.pid) > mostMemory * 1e6) reject(failed(`used more than ${mostMemory} MB of memory`))
        }, lookMs),
      ]
      for (const name of ['stdout', 'stderr'] as const)
        child[name]?.on('data', (block: Buffer) => {
          printed[name].add(block)
          bytes += block.length
          if (bytes > mostPrinted) reject(failed(`printed more than ${mostPrinted} bytes`))
        })
      // there is none if no more files can be opened
      const channel = (child.stdio as ChildProcess['stdio'] | undefined)?.[3] as Duplex | undefined
      if (channel) listen(channel, { ...conversation, file, resolve, reject, failed })
      channel?.write(`${JSON.stringify({ ...orders, mostMs: waitMs + 2000, mostHeap } satisfies Orders)}\n`)
      endOfProcess(child).then(
        (ended) => {
          const result = { ...ended, stdout: printed.stdout.text(), stderr: printed.stderr.text(), truncated: false }
          reject(unparsed(file, result.stderr) ?? failed(whyEnded(result)))
        },
        (error: unknown) => reject(notStarted(program, dirname(file), error)),
      )
    })
  } finally {
    for (const timer of timers) clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    stop.because('interrupted')
    stop.done()
    for (const stream of [...((child.stdio as ChildProcess['stdio'] | undefined) ?? [])]) stream?.destroy()
  }
}

interface Listening extends Conversation {
  file: string
  resolve: (said: unknown) => void
  reject: (error: unknown) => void
  failed: (why: string) => AdminError
}

/** Answers what a check asks, until it says how it ended. */
function listen(channel: Duplex, { what, answer, file, resolve, reject, failed }: Listening): void {
  const errors = new Map<number, unknown>()
  let [said, questions, answered] = [0, 0, 0]
  let rest = ''
  const give = (it: ToCheck): void => {
    const text = JSON.stringify(it)
    answered += text.length
    if (answered > mostAnswers) return reject(failed(`was given more than ${mostAnswers} bytes of answers`))
    if (text.length > mostAnswer)
      return give({ id: it.id, error: { code: 'UNEXPECTED_ANSWER', message: `the answer has ${text.length} bytes` } })
    if (channel.writable) channel.write(`${text}\n`)
  }
  const respond = async (question: Question): Promise<void> => {
    try {
      give({ id: question.id, value: (await answer(question)) ?? null })
    } catch (error) {
      errors.set(question.id, error)
      const code = error instanceof AdminError ? error.code : 'BUG'
      give({ id: question.id, error: { code, message: messageOf(error) } })
    }
  }
  const hear = (line: string): void => {
    const message = messageIn(line)
    if (message === null) return reject(failed('wrote to a channel that is not its own'))
    if ('declared' in message) return resolve(message.declared)
    if ('outcome' in message) return resolve(message.outcome)
    if ('ask' in message) {
      questions += 1
      if (questions > mostQuestions) return reject(failed(`asked more than ${mostQuestions} questions`))
      return void respond(message.ask)
    }
    const { step, message: why, line: at, question } = message.failed
    const place = at === null ? '' : ` (${basename(file)}:${at})`
    const cause = question === undefined ? undefined : errors.get(question)
    if (cause !== undefined) return reject(unanswered(cause, { what, file, place }))
    const told = `${what} ${step === 'load' ? 'cannot be loaded' : 'failed'}: ${short(why)}${place}`
    reject(new AdminError(step === 'load' ? 'CONFIGURATION' : 'FAILED', told, [command`less ${asPath(file)}`]))
  }
  // after the process has ended, its end is the reason
  channel.on('error', () => undefined)
  channel.setEncoding('utf8').on('data', (text: string) => {
    said += Buffer.byteLength(text)
    if (said > mostSaid) return reject(failed(`sent more than ${mostSaid} bytes`))
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) hear(line)
  })
}

/** Errors of what was asked, not of the part that was asked: a right that a check wants is for nobody to grant */
const ofQuestion: readonly ErrorCode[] = ['FORBIDDEN', 'REFUSED', 'UNEXPECTED_ANSWER', 'USAGE']

/** Returns the error of a check that did not catch the error of its question. */
function unanswered(cause: unknown, { what, file, place }: Record<'what' | 'file' | 'place', string>): unknown {
  if (!(cause instanceof AdminError) || cause.code === 'NOT_CONFIGURED' || cause.code === 'INTERRUPTED') return cause
  const { code, message, suggestions, obstacle } = cause
  const others = ofQuestion.includes(code) ? [] : suggestions
  return new AdminError(code, `${what} failed: ${message}${place}`, [command`less ${asPath(file)}`, ...others], {
    cause,
    obstacle,
  })
}

const isText = (it: unknown): it is string => typeof it === 'string'
const isCount = (it: unknown): it is number => Number.isSafeInteger(it) && (it as number) >= 0

/** Returns a message of the protocol; null for anything else. */
function messageIn(line: string): FromCheck | null {
  let it: Partial<Record<'ask' | 'declared' | 'outcome' | 'failed', unknown>> | null
  try {
    it = JSON.parse(line) as typeof it
  } catch {
    return null
  }
  if (typeof it !== 'object' || it === null) return null
  if ('declared' in it || 'outcome' in it) return it as FromCheck
  const ask = it.ask as Partial<Question> | null | undefined
  if (isCount(ask?.id) && isText(ask.source) && isCount(ask.part) && isText(ask.method) && Array.isArray(ask.input))
    return it as FromCheck
  const failed = it.failed as Partial<FailedCheck> | null | undefined
  const isWhole =
    (failed?.step === 'load' || failed?.step === 'run') &&
    isText(failed.message) &&
    (failed.line === null || isCount(failed.line)) &&
    (failed.question === undefined || isCount(failed.question))
  return isWhole ? (it as FromCheck) : null
}

/** Returns the error for a file that Node cannot parse, by what it printed; null: that is not the reason. */
function unparsed(file: string, stderr: string): AdminError | null {
  const [first = '', ...rest] = stderr.split('\n')
  const line = first.startsWith(`${file}:`) ? first.slice(file.length + 1) : ''
  const why = rest.find((it) => it.startsWith('SyntaxError: '))
  if (!/^\d+$/.test(line) || why === undefined) return null
  return new AdminError(
    'CONFIGURATION',
    `check file ${file} has a syntax error in line ${line}: ${short(why.slice('SyntaxError: '.length))}`,
    [command`sed -n ${Math.max(1, Number(line) - 2)},${Number(line) + 1}p ${asPath(file)}`],
  )
}

function whyEnded(result: Parameters<typeof endOf>[0]): string {
  if (result.stderr.includes('heap out of memory')) return `used more than ${mostHeap} MB of memory`
  return `ended before it returned: it ${endOf(result)}`
}

function short(text: string): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text
}

/** Returns the bytes of memory that a process uses; 0 where Linux does not say so. */
function memoryOf(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
