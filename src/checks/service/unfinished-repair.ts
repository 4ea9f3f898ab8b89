import { defineCheck } from '../../core/check.ts'
import type { Finding, Remedy } from '../../core/check.ts'
import type { BrokerSource, DatabaseSource, RunsSource } from '../../core/sources.ts'
import { undoCommand } from '../../core/run-state.ts'
import type { RunState } from '../../core/run-summary.ts'
import { journalQueuePrefix } from '../../knowledge/broker.ts'
import { serviceFails } from '../support/consequences.ts'
import { rabbitmqctl } from '../support/evidence.ts'
import { had, tolerant } from '../support/wanted.ts'

export const serviceUnfinishedRepair = defineCheck({
  id: 'service/unfinished-repair',
  title: 'no repair is left half done',
  reads: ['runs'],
  wants: ['broker', 'database'],
  explains: ['database/changelog-lock', 'broker/queues-durable', ...serviceFails],
  async run({ runs, broker, database }) {
    const all = await runs.list()
    const unfinished = all.filter(({ state }) => state === 'unfinished')
    const elsewhere = await begunElsewhere(had(broker), all)
    const findings = [...unfinished.map((run) => here(run, runs)), ...elsewhere.map((run) => there(run, had(broker)!))]
    const [first, ...others] = findings
    if (!first) return { status: 'ok', detail: all.length === 0 ? 'no repair is on record' : `${all.length} on record, all at their end` }
    const operator = await atWork(runs, had(database))
    if (operator !== null) return { status: 'ok', detail: operator, underway: 'a repair is under way' }
    return { status: 'problem', severity: 'error', findings: [first, ...others], remedy: remedyFor(unfinished[0], elsewhere[0]) }
  },
})

function here({ run, repair, by, startedAt, done, steps, within }: RunState, { target }: RunsSource): Finding {
  const at = within === null ? '' : `; begun last, without an outcome: ${within}`
  return {
    message: `run ${run} (${repair}, begun ${startedAt} by ${by}) has not come to its end: ${done} of ${steps} steps are done${at}`,
    evidence: [`tail -n 1 ${target}/${run}/journal.jsonl`],
  }
}

function there(run: string, broker: BrokerSource): Finding {
  return {
    message: `run ${run} was begun on another machine and has not come to its end`,
    evidence: [rabbitmqctl(broker, 'list_queues name messages'), `${journalQueuePrefix}${run}`],
  }
}

/** Runs of which only the deployment keeps a journal, by the names of their queues. */
async function begunElsewhere(broker: BrokerSource | null, known: readonly RunState[]): Promise<string[]> {
  const queues = broker && (await tolerant(broker.queues()))
  return (queues ?? [])
    .filter(({ name }) => name.startsWith(journalQueuePrefix))
    .map(({ name }) => name.slice(journalQueuePrefix.length))
    .filter((run) => !known.some((it) => it.run === run))
}

async function atWork(runs: RunsSource, databases: readonly DatabaseSource[] | null): Promise<string | null> {
  const holder = (await runs.operator()) ?? (databases?.[0] ? await tolerant(databases[0].operator()) : null)
  if (holder === null) return null
  return `a repair is under way: ${holder.who ?? 'an operator'} runs ${holder.what ?? 'one'}${holder.since ? ` since ${holder.since.toISOString()}` : ''}`
}

function remedyFor(own: RunState | undefined, elsewhere: string | undefined): Remedy {
  if (own !== undefined) {
    return {
      text: own.onlyCloses ? 'Go on with it: it knows where it stopped. What it did cannot be taken back.' : 'Go on with it, or take back what it did: both know where it stopped.',
      commands: [`testops-admin resume ${own.run} -d {deployment}`, undoCommand(own)],
    }
  }
  return {
    text: 'Ask who began it; where they cannot go on, take it over from here.',
    commands: ['testops-admin history -d {deployment}', `testops-admin resume --adopt ${elsewhere} -d {deployment}`],
  }
}
