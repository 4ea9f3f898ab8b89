import { localOperator } from '../../adapters/local-lock.ts'
import { runFolder } from '../../adapters/run-folder.ts'
import { eitherRunStore, runFolders } from '../../adapters/run-stores.ts'
import { AdminError, ifReached } from '../../core/error.ts'
import type { RunHistory, RunStore, UnreadableRun, WorkloadIdentity } from '../../core/run.ts'
import { mayBeOf, runState } from '../../core/run-state.ts'
import { command } from '../../core/shell-command.ts'
import type { RunsSource } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { recordsBeside } from '../paths.ts'
import type { PartContext } from './part.ts'

interface PlacesOfRuns {
  /** On this machine: folder of the journals, file of the lock */
  runs: string
  lockFile: string
  inBroker: () => Promise<RunStore>
  workload: () => Promise<WorkloadIdentity | null>
}

/** The journals of repairs, on this machine and in the deployment. */
export function runsPart(
  { share, platform, deployment, options: { environment } }: PartContext,
  { runs, lockFile, inBroker, workload }: PlacesOfRuns,
) {
  const isOwn = async (history: RunHistory): Promise<boolean> => {
    const own = (await ifReached(workload())).at(0)
    return !!own && mayBeOf(own, deployment.cluster, history)
  }
  const journals = {
    here: platform.workload
      ? runFolders(runs, { folders: async () => recordsBeside(environment, deployment), isOwn })
      : runFolder(runs),
    there: platform.journals
      ? share(async () => eitherRunStore({ first: inBroker, second: async (of) => platform.journals!(of) }))
      : inBroker,
  }
  return { journals, source: share(async () => runsSource(runs, lockFile, journals)) }
}

/** Journals that are shown whole */
const mostJournals = 50

function runsSource(
  folder: string,
  lockFile: string,
  { here, there }: { here: RunStore; there: () => Promise<RunStore> },
): RunsSource {
  return {
    target: folder,
    async list() {
      const all = await here.list()
      const damaged = all.find((it) => 'unreadable' in it)
      if (damaged && 'unreadable' in damaged) throw damagedRun(damaged, folder)
      return all.flatMap((it) => ('record' in it ? [runState(it)] : []))
    },
    async journals() {
      return (await here.list()).slice(-mostJournals)
    },
    async inDeployment() {
      return (await there()).list()
    },
    operator: async () => localOperator(lockFile),
  }
}

function damagedRun({ run, unreadable }: UnreadableRun, folder: string): AdminError {
  return new AdminError('UNEXPECTED_ANSWER', unreadable, [
    command`testops-admin resume --adopt ${run} -d {deployment} --dry-run   # works if the deployment has a copy of
      this record`,
    typed(['ls', '-l', `${folder}/${run}`]),
  ])
}
