import type { DoctorReport } from '../../core/check.ts'
import type { Deployment, Ignored } from '../../core/deployment.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { isDay, isTimeZone } from '../../core/local-time.ts'
import { Secret } from '../../core/secret.ts'
import type { Definition, LogRecord, RecentRecords, ServiceCommands, SourceName, Sources } from '../../core/sources.ts'
import { isPlatformName } from '../../knowledge/platforms.ts'
import { signatures } from '../../knowledge/signatures.ts'
import { withDeadline } from '../judge.ts'
import type { OpenSources } from '../judge.ts'
import { decode, encode } from './encoded.ts'
import type { HideSecret } from './encoded.ts'
import type { RecordedAnswer, RecordedPart, Recording } from './record.ts'
import { sourceNames } from './record.ts'
import type { ReportFile } from './redacted.ts'

type Asked<T> = { readonly [K in keyof T]: T[K] extends (() => Promise<unknown>) | undefined ? K : never }[keyof T]

/** What is asked for a report beside what the checks ask: questions that take nothing and cost little. */
const more: { readonly [K in Exclude<SourceName, 'database'>]?: readonly Asked<Sources[K]>[] } & {
  readonly database: readonly Asked<Sources['database'][0]>[]
} = {
  service: [
    'environment',
    'image',
    'status',
    'health',
    'machines',
    'proxies',
    'controllers',
    'startLimit',
    'definitions',
  ],
  database: ['identity', 'clock', 'backends', 'connections', 'storage'],
  broker: ['identity', 'queues', 'exchanges', 'bindings', 'policies', 'consumers', 'connections', 'nodes'],
  sessions: ['identity', 'clock', 'memory'],
  api: ['health'],
  release: ['latest'],
  runs: ['list', 'journals', 'inDeployment'],
}

/** Something that could not be read. */
export interface Gap {
  what: string
  why: string
}

/**
 * Asks a recorder's sources what else belongs into a report. Returns what could not be read. Parts that the deployment
 * does not have are no gap. Never throws.
 */
export async function askMore(open: OpenSources, deadlineMs: number): Promise<Gap[]> {
  const names = Object.keys(more) as (keyof typeof more)[]
  const gaps = await Promise.all(
    names.map(async (name): Promise<Gap[]> => {
      const ask = async (source: object, question: string): Promise<Gap[]> => {
        const method: unknown = Reflect.get(source, question)
        if (typeof method !== 'function') return []
        return gapOf(`${name} ${question}`, async () => Reflect.apply(method, source, []) as unknown, deadlineMs)
      }
      let sources: readonly object[] = []
      const opening = await gapOf(
        name,
        async () => {
          const opened: unknown = await open[name]()
          sources = (Array.isArray(opened) ? opened : [opened]) as readonly object[]
        },
        deadlineMs,
      )
      const asked = await Promise.all(sources.flatMap((one) => more[name]!.map(async (it) => ask(one, String(it)))))
      return [...opening, ...asked.flat()]
    }),
  )
  return gaps.flat()
}

async function gapOf(what: string, ask: () => Promise<unknown>, deadlineMs: number): Promise<Gap[]> {
  try {
    await withDeadline(ask(), deadlineMs, () => new Error(`no answer within ${deadlineMs / 1000} s`))
    return []
  } catch (error) {
    if (error instanceof AdminError && error.code === 'NOT_CONFIGURED') return []
    return [{ what, why: messageOf(error) }]
  }
}

/** What a report is made of. */
export interface Gathered {
  recording: Recording
  deployment: Deployment
  commands: ServiceCommands | null
  report: DoctorReport
  /** Milliseconds that each check had */
  deadlineMs: number
}

/** What `doctor` needs to judge again. */
export type Evidence = Omit<Gathered, 'report'> & {
  startedAt: Date
  /** When the last answer had come: what a log says of the moments before is not ahead of it */
  at: Date
}

/** Names of the files that `doctor --from` and `report diff` read. */
export const evidenceFile = 'answers.json'
export const diagnosisFile = 'doctor.json'

/** Returns the files of a report, those that matter most first. */
export function contentsOf(gathered: Gathered): ReportFile[] {
  const { recording, report } = gathered
  const [log] = valuesOf<RecentRecords>(recording.logs, 'recent')
  const [definitions = []] = valuesOf<readonly Definition[]>(recording.service, 'definitions')
  const files: (ReportFile | null)[] = [
    { name: diagnosisFile, json: () => report },
    { name: evidenceFile, json: (hide) => evidenceOf(gathered, hide) },
    { name: 'versions.json', json: () => versionsOf(recording) },
    jsonOf(
      'settings.json',
      valuesOf<ReadonlyMap<string, string | Secret>>(recording.service, 'environment'),
      (it, hide) => settingsOf(it, hide),
    ),
    jsonOf('values.json', valuesOf<object>(recording.release, 'latest'), (it) => it),
    ...definitions.map(({ name, content }, index): ReportFile => {
      const isTaken = definitions.slice(0, index).some((it) => fileName(it.name) === fileName(name))
      const path = `definitions/${isTaken ? `${index}-` : ''}${fileName(name)}`
      return typeof content === 'string' ? { name: path, text: content } : { name: `${path}.json`, json: () => content }
    }),
    jsonOf('runs-here.json', valuesOf<readonly unknown[]>(recording.runs, 'journals'), (it, hide) => encode(it, hide)),
    jsonOf('runs-in-deployment.json', valuesOf<readonly unknown[]>(recording.runs, 'inDeployment'), (it, hide) =>
      encode(it, hide),
    ),
    log ? { name: 'log.txt', text: excerptOf(log) } : null,
  ]
  return files.filter((it) => it !== null)
}

function jsonOf<T>(
  name: string,
  [value]: readonly T[],
  json: (value: T, hide: HideSecret) => unknown,
): ReportFile | null {
  return value === undefined ? null : { name, json: (hide) => json(value, hide) }
}

/** Returns all answers to a question, one for each part of the source that gave one. */
export function valuesOf<T>(source: Recording[SourceName], method: string): T[] {
  if (source === undefined || 'error' in source) return []
  return source.parts.flatMap(({ answers }) =>
    answers.flatMap(({ question, ended, answer }) =>
      ended === 'value' && question.startsWith(`${method} `) ? [answer as T] : [],
    ),
  )
}

function settingsOf(environment: ReadonlyMap<string, string | Secret>, hide: HideSecret): unknown[] {
  return [...environment]
    .map(([name, value]) => ({ name, value: value instanceof Secret ? hide(value, name) : value }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Returns the versions of all parts, as far as they were told. */
function versionsOf(recording: Recording): Record<string, unknown> {
  const identity = (name: SourceName): unknown[] =>
    valuesOf<{ version?: string }>(recording[name], 'identity').map(({ version }) => version ?? null)
  const [image] = valuesOf<object>(recording.service, 'image')
  const [release] = valuesOf<{ chart: object; revision: number }>(recording.release, 'latest')
  return {
    service: image ?? null,
    PostgreSQL: identity('database'),
    RabbitMQ: identity('broker'),
    Redis: identity('sessions'),
    ...(release && { chart: release.chart, revision: release.revision }),
  }
}

function fileName(name: string): string {
  return (
    name
      .replace(/^\/+/, '')
      .replace(/[^\w.-]+/g, '_')
      .slice(-60) || 'unnamed'
  )
}

/** Records before and after one that matches */
const around = 10

/** Returns the records of the log that show something known, with those around them. */
function excerptOf({ records, complete }: RecentRecords): string {
  const isTold = ({ text, level }: LogRecord): boolean =>
    level === 'ERROR' || level === 'FATAL' || signatures.some(({ pattern }) => pattern.test(text))
  const shown = new Set<number>()
  for (const [index, record] of records.entries())
    if (isTold(record)) for (let at = index - around; at <= index + around; at += 1) shown.add(at)
  const parts: string[] = complete ? [] : ['… older records were not read …']
  let left = 0
  const tellLeft = (): void => {
    if (left > 0) parts.push(`… ${left} records that show nothing known …`)
    left = 0
  }
  for (const [index, { text }] of records.entries()) {
    if (!shown.has(index)) left += 1
    else {
      tellLeft()
      parts.push(text.trimEnd())
    }
  }
  tellLeft()
  return `${parts.join('\n')}\n`
}

/** Questions that no check asks: files of their own hold the answers */
const ownFiles = ['definitions', 'journals']

/** Returns what `doctor` needs to judge again, as JSON data. */
function evidenceOf({ recording, deployment, commands, deadlineMs, report }: Gathered, hide: HideSecret): unknown {
  const ofPart = ({ facts, questions, answers }: RecordedPart): unknown => ({
    facts: encode(facts, hide),
    questions,
    answers: answers.map(({ question, ended, answer, isAtOnce }) => ({
      question,
      ended,
      answer: ownFiles.some((it) => question.startsWith(`${it} `)) ? [] : encode(answer, hide),
      ...(isAtOnce && { isAtOnce }),
    })),
  })
  return {
    startedAt: report.startedAt,
    at: new Date(Date.parse(report.startedAt) + report.durationMs).toISOString(),
    deadlineMs,
    deployment: encode(withoutEditable(deployment), hide),
    // commands that enter a secret again, which their names would hide
    ...(deployment.editable && { enter: Object.entries(deployment.editable.secrets) }),
    commands: encode(commands, hide),
    sources: Object.fromEntries(
      Object.entries(recording).map(([name, it]) => [
        name,
        'error' in it ? { error: encode(it.error, hide) } : { isList: it.isList, parts: it.parts.map(ofPart) },
      ]),
    ),
  }
}

function withoutEditable({ editable, ...deployment }: Deployment): unknown {
  return { ...deployment, ...(editable && { editable: { ...editable, secrets: {} } }) }
}

/** Returns what `evidenceOf` was made of. Throws an Error that says what is wrong with the data. */
export function readEvidence(data: unknown): Evidence {
  const { startedAt, at, deadlineMs, deployment, enter, commands, sources } = recordOf(data, 'it is no document')
  const timeIn = (value: unknown, name: string): Date => {
    if (typeof value !== 'string' || Number.isNaN(Date.parse(value))) throw new Error(`\`${name}\` is no time`)
    return new Date(value)
  }
  if (typeof deadlineMs !== 'number' || !(deadlineMs > 0)) throw new Error('`deadlineMs` is no number')
  const read = decode(deployment) as Partial<Deployment> | null
  if (!isDeployment(read)) throw new Error('`deployment` is incomplete')
  const all = recordOf(sources, '`sources` is missing')
  const recording = Object.fromEntries(
    sourceNames.flatMap((name) => (Object.hasOwn(all, name) ? [[name, readSource(all[name], name)]] : [])),
  ) as Recording
  return {
    startedAt: timeIn(startedAt, 'startedAt'),
    at: timeIn(at, 'at'),
    deadlineMs: Math.min(deadlineMs, longestMs),
    deployment: withEditable(read, enter),
    commands: commandsIn(decode(commands)),
    recording,
  }
}

/** The longest that a check has, whatever a report says: `--timeout` allows no more */
const longestMs = 3_700_000

function isDeployment(it: Partial<Deployment> | null): it is Deployment {
  const isTextOr = (value: unknown, other: unknown): boolean => value === other || typeof value === 'string'
  return (
    typeof it?.name === 'string' &&
    isPlatformName(it.platform) &&
    typeof it.vendor?.prefix === 'string' &&
    typeof it.vendor.package === 'string' &&
    (it.timeZone === null || (typeof it.timeZone === 'string' && isTimeZone(it.timeZone))) &&
    [it.config, it.found, it.cluster].every((text) => isTextOr(text, undefined)) &&
    (it.file === undefined || (['--values', '--compose'].includes(it.file.flag) && isTextOr(it.file.path, null))) &&
    (it.editable === undefined || typeof it.editable.configuration === 'string') &&
    (it.ignore === undefined || (Array.isArray(it.ignore) && it.ignore.every(isIgnored)))
  )
}

function commandsIn(data: unknown): ServiceCommands | null {
  if (data === null) return null
  const it = recordOf(data, '`commands` is incomplete')
  const isWhole = [...commandNames, ...('values' in it ? ['values'] : [])].every((name) => typeof it[name] === 'string')
  if (!isWhole) throw new Error('`commands` is incomplete')
  return it as unknown as ServiceCommands
}

const commandNames: readonly (keyof ServiceCommands)[] = [
  'start',
  'stop',
  'restart',
  'status',
  'logs',
  'processes',
  'settings',
  'edit',
]

function isIgnored(it: Partial<Ignored> | null): boolean {
  return [it?.check, it?.reason].every((text) => typeof text === 'string') && isDay(String(it?.until))
}

/** Parts of one source: no deployment has as many databases */
const mostParts = 1000

function withEditable(deployment: Deployment, enter: unknown): Deployment {
  const { editable } = deployment
  if (!editable) return deployment
  const isPair = (it: unknown): it is [string, string] =>
    Array.isArray(it) && it.every((part) => typeof part === 'string')
  if (!Array.isArray(enter) || !enter.every(isPair)) throw new Error('`enter` is incomplete')
  return { ...deployment, editable: { ...editable, secrets: Object.fromEntries(enter) } }
}

function readSource(data: unknown, name: string): Recording[SourceName] {
  const it = recordOf(data, `\`${name}\` is incomplete`)
  if ('error' in it) {
    const error = decode(it['error'])
    if (!(error instanceof Error)) throw new Error(`\`${name}\` holds an error of no kind`)
    return { error }
  }
  const { isList, parts } = it
  if (typeof isList !== 'boolean' || !Array.isArray(parts) || parts.length === 0)
    throw new Error(`\`${name}\` is incomplete`)
  if (parts.length > mostParts) throw new Error(`\`${name}\` has more than ${mostParts} parts`)
  return { isList, parts: parts.map((part: unknown) => readPart(part, name)) }
}

function readPart(data: unknown, name: string): RecordedPart {
  const { facts, questions, answers } = recordOf(data, `\`${name}\` is incomplete`)
  if (!Array.isArray(questions) || !Array.isArray(answers)) throw new Error(`\`${name}\` is incomplete`)
  const isName = (it: unknown): it is string => typeof it === 'string' && it !== '__proto__' && it !== 'then'
  return {
    facts: recordOf(decode(facts), `\`${name}\` is incomplete`),
    questions: questions.filter(isName),
    answers: answers.map((answer: unknown): RecordedAnswer => {
      const { question, ended, answer: given, isAtOnce } = recordOf(answer, `\`${name}\` is incomplete`)
      if (typeof question !== 'string' || (ended !== 'value' && ended !== 'error' && ended !== 'pending'))
        throw new Error(`\`${name}\` holds an answer to no question`)
      const decoded = decode(given)
      if (ended === 'error' && !(decoded instanceof Error)) throw new Error(`\`${name}\` holds an error of no kind`)
      return { question, ended, answer: decoded, ...(isAtOnce === true && { isAtOnce }) }
    }),
  }
}

function recordOf(data: unknown, otherwise: string): Record<string, unknown> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new Error(otherwise)
  return data as Record<string, unknown>
}
