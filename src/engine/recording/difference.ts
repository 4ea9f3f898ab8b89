import type { CheckReport, DoctorReport } from '../../core/check.ts'
import { PartialSettings } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { moment } from '../../core/format.ts'
import { Secret, UnreadableSecret } from '../../core/secret.ts'
import type { BrokerQueue, ReleaseRevision, ServiceHealth, ServiceImage, SourceName } from '../../core/sources.ts'
import { valuesOf } from './contents.ts'
import type { Recording } from './record.ts'
import { withoutNumbers } from './redacted.ts'

/** One thing that differs; null: it is not there. */
export interface Difference {
  part: 'checks' | 'image' | 'versions' | 'settings' | 'values' | 'queues' | 'restarts'
  name: string
  from: string | null
  to: string | null
}

interface Side {
  report: DoctorReport
  recording: Recording
}

/** What one side says of a part, by name; null: it was not read. */
type Facts = ReadonlyMap<string, string> | null

/** Shown in the place of a secret: whether it is the same in both is unknown, as each report has its own numbers */
const secret = '[secret]'

/**
 * Returns what changed from one report to the other. `notCompared`: parts that one of them lacks, and settings that are
 * secret in both.
 */
export function differencesOf(one: Side, other: Side): { changes: Difference[]; notCompared: string[] } {
  const changes: Difference[] = []
  const notCompared: string[] = []
  for (const [part, read] of Object.entries(parts) as [Difference['part'], (side: Side) => Facts][]) {
    const [from, to] = [read(one), read(other)]
    if (from === null && to === null && [one, other].every((it) => isAbsent(it, part))) continue
    if (from === null || to === null) {
      notCompared.push(part)
      continue
    }
    for (const name of [...new Set([...from.keys(), ...to.keys()])].sort()) {
      const [was, is] = [from.get(name) ?? null, to.get(name) ?? null]
      // a version that is missing was not read
      const isUnread = part === 'versions' || (part === 'settings' && [one, other].some(isPartial))
      if (isUnread && (was === null || is === null)) notCompared.push(`${part}: ${name}`)
      else if (was !== is) changes.push({ part, name, from: was, to: is })
      else if (was?.includes(secret)) notCompared.push(`${part}: ${name}`)
    }
  }
  return { changes, notCompared }
}

const sources: Readonly<Partial<Record<Difference['part'], SourceName>>> = {
  image: 'service',
  settings: 'service',
  values: 'release',
  queues: 'broker',
  restarts: 'service',
}

/** True if the deployment has no such part. */
function isAbsent({ recording }: Side, part: Difference['part']): boolean {
  const source = sources[part]
  const it = source && recording[source]
  return it !== undefined && 'error' in it && it.error instanceof AdminError && it.error.code === 'NOT_CONFIGURED'
}

function isPartial({ recording }: Side): boolean {
  return valuesOf(recording.service, 'environment').some((it) => it instanceof PartialSettings)
}

const parts: Readonly<Record<Difference['part'], (side: Side) => Facts>> = {
  checks: ({ report }) => new Map(report.checks.map((it) => [it.id, outcomeOf(it)])),
  image({ recording }) {
    const [image] = valuesOf<ServiceImage>(recording.service, 'image')
    return image ? textsOf({ name: image.name, tag: image.tag, build: image.build }) : null
  },
  versions({ recording }) {
    const names = { PostgreSQL: 'database', RabbitMQ: 'broker', Redis: 'sessions' } as const
    return textsOf(
      Object.fromEntries(
        Object.entries(names).map(([name, source]: [string, SourceName]) => [
          name,
          valuesOf<{ version?: string }>(recording[source], 'identity')[0]?.version,
        ]),
      ),
    )
  },
  settings({ recording }) {
    const [settings] = valuesOf<ReadonlyMap<string, string | Secret>>(recording.service, 'environment')
    return settings ? new Map([...settings].map(([name, value]) => [name, plain(value)])) : null
  },
  values({ recording }) {
    const [release] = valuesOf<ReleaseRevision>(recording.release, 'latest')
    return release ? new Map(leavesOf(release.values)) : null
  },
  queues({ recording }) {
    const [queues] = valuesOf<readonly BrokerQueue[]>(recording.broker, 'queues')
    return queues ? new Map(queues.map((it) => [`${it.vhost} ${it.name}`, queueText(it)])) : null
  },
  restarts({ recording }) {
    const [health] = valuesOf<ServiceHealth>(recording.service, 'health')
    return health ? new Map(health.instances.map((it) => [it.name, runText(it)])) : null
  },
}

/** A restart by an operator is not counted, but the run has another beginning. An archive may hold any value. */
function runText({ restarts, startedAt }: ServiceHealth['instances'][number]): string {
  const since = startedAt instanceof Date && !Number.isNaN(startedAt.getTime()) ? `, since ${moment(startedAt)}` : ''
  return `${restarts} restarts${since}`
}

function outcomeOf({ status, severity, because, suppressed }: CheckReport): string {
  if (suppressed !== undefined) return 'suppressed'
  const word = status === 'problem' ? (severity ?? status) : status
  return because === undefined ? word : `${word}, because of ${because}`
}

function queueText({ durable, type, autoDelete, exclusive, arguments: given }: BrokerQueue): string {
  const marks = [
    durable ? 'durable' : 'transient',
    type,
    ...(autoDelete ? ['auto-delete'] : []),
    ...(exclusive ? ['exclusive'] : []),
  ]
  const rest = Object.entries(given).map(([name, value]) => `${name}=${withoutNumbers(JSON.stringify(value))}`)
  return [...marks, ...rest.sort()].join(', ')
}

function plain(value: string | Secret): string {
  if (value instanceof UnreadableSecret) return secret
  return value instanceof Secret ? withoutNumbers(value.reveal()) : withoutNumbers(value)
}

function textsOf(values: Readonly<Record<string, string | null | undefined>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(values).flatMap(([name, value]) => (value == null ? [] : [[name, withoutNumbers(value)]])),
  )
}

/** Returns the leaves of a tree of values, by path. */
function* leavesOf(tree: unknown, path = ''): Generator<[string, string]> {
  if (typeof tree === 'object' && tree !== null && Object.keys(tree).length > 0)
    for (const [key, value] of Object.entries(tree)) yield* leavesOf(value, path === '' ? key : `${path}.${key}`)
  else yield [path, typeof tree === 'string' ? withoutNumbers(tree) : JSON.stringify(tree)]
}
