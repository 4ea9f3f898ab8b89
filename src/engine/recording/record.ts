import { sharedAnswers } from '../../core/answers.ts'
import { AdminError } from '../../core/error.ts'
import type { SourceName, Sources } from '../../core/sources.ts'
import type { OpenSources } from '../judge.ts'

/** What one source answered: its facts, the names of its questions, and the answers to those that were asked. */
export interface RecordedPart {
  facts: Readonly<Record<string, unknown>>
  questions: readonly string[]
  answers: readonly RecordedAnswer[]
}

export interface RecordedAnswer {
  /** Name of the method, a blank, and its arguments as JSON */
  question: string
  /** value: the answer; error: what was thrown; pending: nothing came in time */
  ended: 'value' | 'error' | 'pending'
  answer: unknown
  /** Set if it is returned at once and not as a promise */
  isAtOnce?: true
}

/** What opening a source gave: its parts (several databases), or the error. */
type RecordedSource = { parts: readonly RecordedPart[]; isList: boolean } | { error: unknown }

export type Recording = Readonly<Partial<Record<SourceName, RecordedSource>>>

export interface Recorder {
  /** The same sources. Each question is asked once, and its answer is kept for later callers and for the recording */
  open: OpenSources
  /** Returns what was asked until now */
  recording(): Recording
}

interface Recorded {
  source: object
  answers: Map<string, RecordedAnswer>
}

/** Records what sources answer. */
export function recordSources(open: OpenSources): Recorder {
  const openings = sharedAnswers({ keep: 'everything' })
  const opened = new Map<SourceName, { parts: readonly Recorded[]; isList: boolean } | { error: unknown }>()

  const recorded = async <K extends SourceName>(name: K): Promise<Sources[K]> => {
    try {
      const source: unknown = await open[name]()
      const isList = Array.isArray(source)
      const parts = (isList ? source : [source]).map((it: object): Recorded => ({ source: it, answers: new Map() }))
      opened.set(name, { parts, isList })
      const shown = parts.map(listening)
      return (isList ? shown : shown[0]) as Sources[K]
    } catch (error) {
      opened.set(name, { error })
      throw error
    }
  }
  return {
    open: Object.fromEntries(
      Object.keys(open).map((name) => [name, async () => openings.to(name, async () => recorded(name as SourceName))]),
    ) as OpenSources,
    recording: () =>
      Object.fromEntries(
        [...opened].map(([name, it]) => [
          name,
          'error' in it
            ? it
            : {
                isList: it.isList,
                parts: it.parts.map(({ source, answers }) => ({
                  ...shapeOf(name, source),
                  answers: [...answers.values()],
                })),
              },
        ]),
      ),
  }
}

/** Rows of tables that only an operator's own checks ask for: their outcome is in a report, their data is not. */
const notRecorded: keyof Sources['database'][0] = 'select'

const questionOf = (method: string, input: readonly unknown[]): string => `${method} ${JSON.stringify(input)}`

function listening({ source, answers }: Recorded): object {
  const shared = sharedAnswers({ keep: 'everything' })
  return new Proxy(source, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function' || typeof property !== 'string') return value
      if (property === notRecorded) return value.bind(target) as unknown
      return (...input: unknown[]): unknown => {
        const question = questionOf(property, input)
        return shared.to(question, (): unknown => {
          const entry: RecordedAnswer = { question, ended: 'pending', answer: null }
          answers.set(question, entry)
          const keep = (ended: 'value' | 'error', answer: unknown): void => void Object.assign(entry, { ended, answer })
          try {
            const answer: unknown = Reflect.apply(value, target, input)
            if (answer instanceof Promise)
              answer.then(
                (it) => keep('value', it),
                (error: unknown) => keep('error', error),
              )
            else {
              keep('value', answer)
              entry.isAtOnce = true
            }
            return answer
          } catch (error) {
            keep('error', error)
            entry.isAtOnce = true
            throw error
          }
        })
      }
    },
  })
}

/** The facts of each source. Nothing else of it is recorded: it may hold a connection and its password. */
const factsOf: Readonly<Record<SourceName, readonly string[]>> = {
  database: ['target', 'alsoAt'] satisfies (keyof Sources['database'][0])[],
  broker: ['target', 'vhost', 'user'] satisfies (keyof Sources['broker'])[],
  sessions: ['target', 'client'] satisfies (keyof Sources['sessions'])[],
  service: ['commands', 'settingsFiles'] satisfies (keyof Sources['service'])[],
  api: ['target'] satisfies (keyof Sources['api'])[],
  logs: ['target', 'prints'] satisfies (keyof Sources['logs'])[],
  accessLog: ['target'] satisfies (keyof Sources['accessLog'])[],
  network: [],
  runs: ['target'] satisfies (keyof Sources['runs'])[],
  files: [],
  release: ['target'] satisfies (keyof Sources['release'])[],
}

/** Names of all sources. */
export const sourceNames = Object.keys(factsOf) as SourceName[]

/** Returns the facts of a source and the names of its questions, also those of its classes. */
function shapeOf(name: SourceName, source: object): Omit<RecordedPart, 'answers'> {
  const facts = factsOf[name].map((fact) => [fact, Reflect.get(source, fact, source) as unknown] as const)
  return {
    facts: Object.fromEntries(facts.filter(([, value]) => value !== undefined)),
    questions: namesOf(source).filter((it) => {
      const described = descriptorOf(source, it)
      return typeof described?.value === 'function'
    }),
  }
}

function chainOf(source: object): object[] {
  const chain: object[] = []
  for (
    let at: object | null = source;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    chain.push(at)
  return chain
}

function namesOf(source: object): string[] {
  const names = chainOf(source).flatMap((it) => Object.getOwnPropertyNames(it))
  return [...new Set(names)].filter((name) => name !== 'constructor')
}

function descriptorOf(source: object, name: string): PropertyDescriptor | undefined {
  return chainOf(source)
    .map((it) => Object.getOwnPropertyDescriptor(it, name))
    .find((it) => it !== undefined)
}

/** True if something was asked to which no answer came. */
export function isWaiting(recording: Recording): boolean {
  return Object.values(recording).some(
    (it) => 'parts' in it && it.parts.some(({ answers }) => answers.some(({ ended }) => ended === 'pending')),
  )
}

/** Returns sources that give recorded answers again. A question without one throws UNAVAILABLE. */
export function replaySources(recording: Recording): OpenSources {
  return Object.fromEntries(
    sourceNames.map((name) => {
      const it = recording[name]
      const sources = it && 'parts' in it ? it.parts.map(answering) : []
      return [
        name,
        async () => {
          if (it === undefined) throw missing(`from \`${name}\``)
          if ('error' in it) throw it.error
          return it.isList ? sources : sources[0]
        },
      ]
    }),
  ) as unknown as OpenSources
}

function answering({ facts, questions, answers }: RecordedPart): object {
  const known = new Map(answers.map((it) => [it.question, it]))
  const ask =
    (method: string) =>
    (...input: unknown[]): unknown => {
      const it = known.get(questionOf(method, input))
      if (it === undefined) return Promise.reject(missing(`to \`${method}\``))
      if (it.isAtOnce) {
        if (it.ended === 'error') throw it.answer
        return it.answer
      }
      if (it.ended === 'pending') return new Promise(() => undefined)
      const { answer } = it
      return it.ended === 'error' && answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    }
  return { ...facts, ...Object.fromEntries(questions.map((name) => [name, ask(name)])) }
}

/** Nothing was asked, which says nothing about the part itself. */
function missing(where: string): AdminError {
  return new AdminError('UNAVAILABLE', `the report has no answer ${where}`, [], { obstacle: { kind: 'beyond' } })
}
