import { defineCheck } from '../../core/check.ts'
import type { Finding, Remedy, Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { Holder } from '../../core/lock.ts'
import type { RunHistory, UnreadableRun } from '../../core/run.ts'
import type { BrokerSource, DatabaseSource, RunsSource, ServiceSource } from '../../core/sources.ts'
import { undoCommand } from '../../core/run-state.ts'
import type { RunState } from '../../core/run-state.ts'
import { counted, moment } from '../../core/format.ts'
import { misfitsOf } from '../../domain/foreign-run/index.ts'
import type { ComparedSources } from '../../domain/foreign-run/notes.ts'
import { leftStanding, overIn } from '../../domain/foreign-run/standing.ts'
import { journalQueuePrefix, lockHolderIn } from '../../knowledge/broker.ts'
import { serviceFails } from '../support/consequences.ts'
import { rabbitmqctl } from '../../domain/evidence.ts'
import { had, tolerant } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

export const serviceUnfinishedRepair = defineCheck({
  id: 'service/unfinished-repair',
  title: 'no repair is unfinished',
  reads: ['runs'],
  wants: ['broker', 'database', 'service', 'sessions', 'api', 'files'],
  explains: ['database/changelog-lock', 'broker/queues-durable', ...serviceFails],
  async run({ runs, broker, database, service, ...others }, deployment) {
    const all = await runs.list()
    const unfinished = all.filter(({ state }) => state === 'unfinished')
    const comparison = { deployment, open: openings({ broker, database, service, ...others }) }
    const { genuine, strange, empty } = await begunElsewhere(runs, had(broker), all, comparison)
    const findings = [
      ...unfinished.map((run) => here(run, runs)),
      ...genuine.map((run) => there(run, had(broker)!)),
      ...strange.map((it) => odd(it, had(broker)!)),
      ...empty.map((run) => blank(run, had(broker)!)),
    ]
    const [first, ...rest] = findings
    if (!first)
      return {
        status: 'ok',
        detail: all.length === 0 ? 'no repair on record' : `${counted(all.length, 'repair')} on record, all finished`,
      }
    const operator = await atWork({ runs, broker: had(broker), databases: had(database), service: had(service) })
    if (operator !== null) return { status: 'ok', detail: operator, underway: 'a repair is under way' }
    // such records are in the way only while something of a repair may be in place
    const [left] = strange.length + empty.length > 0 ? await leftStanding(comparison) : []
    const severity = unfinished.length + genuine.length > 0 ? 'error' : 'warning'
    // if the run only has to start the service, what keeps the service from starting comes first
    const isAtStart = unfinished.length === 1 && findings.length === 1 && unfinished[0]!.isAtStart === true
    return {
      status: 'problem',
      severity,
      findings: [first, ...rest],
      blocksRepairs: severity === 'error' || left !== undefined,
      ...(unfinished[0] && { since: new Date(unfinished[0].startedAt) }),
      ...(isAtStart && { follows: 'service/crashes' }),
      remedy: remedyFor({ own: unfinished[0], elsewhere: genuine[0], strange: strange[0], empty: empty[0], left }),
    }
  },
})

/** A record that this program never wrote, and why that shows. */
interface Strange {
  run: string
  why: string
}

function here({ run, repair, by, startedAt, done, steps, within }: RunState, { target }: RunsSource): Finding {
  const at = within === null ? '' : `, stopped in: ${within}`
  return {
    message:
      `run ${run} is unfinished: ${repair}, started ${moment(startedAt)} by ${by}; ` +
      `${done} of ${steps} steps done${at}`,
    evidence: [command`tail -n 1 ${`${target}/${run}/journal.jsonl`}`],
  }
}

function there(run: string, broker: BrokerSource): Finding {
  return {
    message: `run ${run} from another machine is unfinished`,
    evidence: [queueListed(broker, run)],
  }
}

function odd({ run, why }: Strange, broker: BrokerSource): Finding {
  return {
    message:
      `the saved record of run \`${run}\` in the broker does not belong to any repair of this deployment: ` + why,
    evidence: [queueListed(broker, run)],
  }
}

function blank(run: string, broker: BrokerSource): Finding {
  return {
    message: `run ${run} from another machine stopped before it changed anything: its saved record is empty`,
    evidence: [queueListed(broker, run)],
  }
}

function queueListed(broker: BrokerSource, run: string): ShellCommand {
  return rabbitmqctl(broker, command`list_queues name messages | grep ${`${journalQueuePrefix}${run}`}`)
}

/**
 * Returns runs whose journal is only in the deployment: those that may be genuine, those that this program never wrote,
 * and those with an empty record.
 */
async function begunElsewhere(
  runs: RunsSource,
  broker: BrokerSource | null,
  known: readonly RunState[],
  comparison: { deployment: Deployment; open: ComparedSources },
): Promise<{ genuine: string[]; strange: Strange[]; empty: string[] }> {
  const queues = broker && (await tolerant(broker.queues()))
  const names = (queues ?? [])
    .filter(({ name }) => name.startsWith(journalQueuePrefix))
    .map(({ name }) => name.slice(journalQueuePrefix.length))
    .filter((run) => !known.some((it) => it.run === run))
  const genuine: string[] = []
  const strange: Strange[] = []
  const empty: string[] = []
  // without such a run, there is nothing to open another connection for
  if (names.length === 0) return { genuine, strange, empty }
  const records = await tolerant(runs.inDeployment())
  const isOver = overIn(comparison)
  for (const name of names) {
    // that this user cannot read it proves nothing
    if (records === null) genuine.push(name)
    const record = records?.find((it) => nameOf(it) === name)
    if (!record || ('record' in record && (await isOver(record)))) continue
    if ('isEmpty' in record) {
      empty.push(name)
      continue
    }
    const why = 'record' in record ? await misfitIn(record, comparison) : record.unreadable
    if (why === null) genuine.push(name)
    else strange.push({ run: name, why })
  }
  return { genuine, strange, empty }
}

/** Returns why a record does not fit; null if it fits, or cannot be compared and so may be genuine. */
async function misfitIn(
  record: RunHistory,
  comparison: { deployment: Deployment; open: ComparedSources },
): Promise<string | null> {
  const { unfit } = await misfitsOf(record, comparison)
  return unfit[0] ?? null
}

function nameOf(it: RunHistory | UnreadableRun): string {
  return 'record' in it ? it.record.run : it.run
}

type Had = { readonly [K in keyof ComparedSources]: Wanted<Awaited<ReturnType<ComparedSources[K]>>> }

function openings(sources: Had): ComparedSources {
  const open =
    <T>(source: Wanted<T>) =>
    async (): Promise<T> => {
      if (source instanceof AdminError) throw source
      return source
    }
  return {
    service: open(sources.service),
    database: open(sources.database),
    broker: open(sources.broker),
    sessions: open(sources.sessions),
    api: open(sources.api),
    files: open(sources.files),
  }
}

interface LockPlaces {
  runs: RunsSource
  broker: BrokerSource | null
  databases: readonly DatabaseSource[] | null
  service: ServiceSource | null
}

/**
 * Returns who holds one of the locks that keep a second operator out, without taking any; null if this machine sees
 * nobody.
 */
async function atWork({ runs, broker, databases, service }: LockPlaces): Promise<string | null> {
  const inDatabase = async (): Promise<Holder | null> => (databases?.[0] ? tolerant(databases[0].operator()) : null)
  const inBroker = async (): Promise<Holder | null> => lockHolderIn((broker && (await tolerant(broker.queues()))) ?? [])
  const onPlatform = async (): Promise<Holder | null> => (service?.operator ? tolerant(service.operator()) : null)
  const holder = (await runs.operator()) ?? (await inDatabase()) ?? (await inBroker()) ?? (await onPlatform())
  if (holder === null) return null
  const [verb, since] = holder.since ? ['has been running', ` since ${moment(holder.since)}`] : ['is running', '']
  return `a repair is under way: ${holder.who ?? 'an operator'} ${verb} ${holder.what ?? 'it'}${since}`
}

/** Returns the remedy for the worst finding; there is at least one. */
function remedyFor({
  own,
  elsewhere,
  strange,
  empty,
  left,
}: {
  own: RunState | undefined
  elsewhere: string | undefined
  strange: Strange | undefined
  empty: string | undefined
  /** What of a repair may be in place, in one sentence */
  left: string | undefined
}): Remedy {
  if (own !== undefined) {
    return {
      text: own.onlyCloses
        ? 'Resume the repair to complete it. Its changes cannot be undone: `undo` only closes the run.'
        : 'Resume the repair from where it stopped, or undo what it has done.',
      commands: [command`testops-admin resume ${own.run} -d {deployment}`, undoCommand(own)],
    }
  }
  if (elsewhere !== undefined) {
    return {
      text:
        'Ask the operator who started the run to resume it. If they cannot, read the plan of the run, then adopt ' +
        'the run on this machine.',
      commands: [
        command`testops-admin resume --adopt ${elsewhere} -d {deployment} --dry-run`,
        'testops-admin history -d {deployment}',
      ],
    }
  }
  const run = strange?.run ?? empty!
  if (left !== undefined) {
    const what =
      strange === undefined
        ? `The saved record of run ${run} is empty`
        : `The record \`${run}\` does not belong to any repair of this deployment`
    return {
      text:
        `${what}, but ${left}. Find out who wrote the record. ` +
        'Remove the record only if you are sure that no repair is unfinished.',
      commands: [
        command`testops-admin discard ${run} -d {deployment} --dry-run`,
        command`testops-admin discard ${run} -d {deployment} --accept-risk unfinished-run   # only if no
          repair is unfinished`,
      ],
    }
  }
  if (strange !== undefined) {
    return {
      text:
        `The record \`${run}\` does not belong to any repair of this deployment. Find out who wrote it. The command ` +
        'shows the record, saves it on this machine, and removes it from the deployment.',
      commands: [command`testops-admin discard ${run} -d {deployment}`],
    }
  }
  return {
    text:
      `The saved record of run ${run} is empty, so there is nothing to resume or undo. The command removes the ` +
      'record from the deployment.',
    commands: [command`testops-admin discard ${run} -d {deployment}`],
  }
}
