import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError } from '../core/error.ts'
import type { RunHistory, RunStore, UnreadableRun } from '../core/run.ts'
import { isRunName } from '../core/run.ts'
import { runFolder } from './run-folder.ts'

/** Two places for the journals of one deployment. If the first cannot be opened, `unseen` of the store says why. */
interface Places {
  /** Opens the place that is preferred */
  first: () => Promise<RunStore>
  /** Opens the other place. `isNeeded` is true if the first is not available */
  second: (of: { isNeeded: boolean }) => Promise<RunStore>
}

/**
 * Returns the journals of a deployment that has two places for them. Begins new ones in the first available place, and
 * reads existing ones from both. If a run is in both, its longer journal counts. Throws the first place's error if
 * neither is available.
 */
export async function eitherRunStore({ first, second }: Places): Promise<RunStore> {
  const one = await attempt(first)
  const other = await attempt(async () => second({ isNeeded: one instanceof AdminError }))
  if (one instanceof AdminError && other instanceof AdminError) throw one
  if (other instanceof AdminError) return one as RunStore
  const main = one instanceof AdminError ? null : one
  const beside = other
  /** why the first place is not available; null if it is, or is not configured */
  let why: AdminError | null = one instanceof AdminError && one.code !== 'NOT_CONFIGURED' ? one : null

  /** Asks the first place; null if it is not available now. */
  const ofMain = async <T>(
    asking: (store: RunStore) => Promise<T>,
  ): Promise<{ value: T } | { refused: AdminError } | null> => {
    if (!main) return null
    try {
      const value = await asking(main)
      why = null
      return { value }
    } catch (error) {
      if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
      if (!isAway(error)) return { refused: error }
      why = error
      return null
    }
  }
  const whichHas = async (run: string): Promise<{ store: RunStore; history: RunHistory }> => {
    const there = await ofMain(async (store) => store.read(run))
    const near = await beside.read(run).catch((error: unknown) => {
      // a user who may not read there has never written there
      if (error instanceof AdminError && (error.code === 'USAGE' || (main !== null && error.code === 'FORBIDDEN')))
        return null
      throw error
    })
    const own = there && 'value' in there ? { store: main!, history: there.value } : null
    if (near && (!own || near.events.length > own.history.events.length)) return { store: beside, history: near }
    if (own) return own
    if (there && 'refused' in there) throw there.refused
    // the run may be in the place that is not available now
    throw (
      why ??
      new AdminError('USAGE', `no run \`${run}\` on record in the ${beside.where}`, [
        'testops-admin history -d {deployment}',
      ])
    )
  }
  return {
    where: main ? `${main.where}, else ${beside.where}` : beside.where,
    unseen: async () => {
      if (main) await ofMain(async (store) => store.list())
      return why
    },
    async begin(record, events) {
      const begun = await ofMain(async (store) => store.begin(record, events))
      if (begun && 'value' in begun) return begun.value
      return beside.begin(record, events)
    },
    async reopen(run) {
      const { store } = await whichHas(run)
      return store.reopen(run)
    },
    read: async (run) => (await whichHas(run)).history,
    async list() {
      const there = await ofMain(async (store) => store.list())
      if (there && 'refused' in there) throw there.refused
      const near = await beside.list().catch((error: unknown) => {
        if (main !== null && error instanceof AdminError && error.code === 'FORBIDDEN') return []
        throw error
      })
      return longest([...(there && 'value' in there ? there.value : []), ...near])
    },
    async discard(run, save) {
      for (const store of [...(main ? [main] : []), beside]) {
        const listed = await store.list().catch((error: unknown) => {
          if (store === beside && main !== null && error instanceof AdminError && error.code === 'FORBIDDEN') return []
          throw error
        })
        const isThere = listed.some((it) => ('record' in it ? it.record.run : it.run) === run)
        if (isThere) await store.discard?.(run, save)
      }
    },
    async remove(run) {
      await beside.remove(run).catch((error: unknown) => {
        if (!(main !== null && error instanceof AdminError && error.code === 'FORBIDDEN')) throw error
      })
      const removed = await ofMain(async (store) => store.remove(run))
      if (removed && 'refused' in removed) throw removed.refused
    },
  }
}

/** True if a place is not available, whatever is in it. */
function isAway({ code }: AdminError): boolean {
  return code !== 'USAGE' && code !== 'REFUSED' && code !== 'UNEXPECTED_ANSWER'
}

/** Returns each run once, by its longest journal, oldest first. */
function longest(all: readonly (RunHistory | UnreadableRun)[]): (RunHistory | UnreadableRun)[] {
  const byName = new Map<string, RunHistory | UnreadableRun>()
  for (const it of all) {
    const name = 'record' in it ? it.record.run : it.run
    const known = byName.get(name)
    if (!known || lengthOf(it) > lengthOf(known)) byName.set(name, it)
  }
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, it]) => it)
}

function lengthOf(it: RunHistory | UnreadableRun): number {
  return 'record' in it ? it.events.length : -1
}

async function attempt(open: () => Promise<RunStore>): Promise<RunStore | AdminError> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return error
    throw error
  }
}

/** Other folders of journals, some of which may belong to the same workload under another name. */
interface Beside {
  folders: () => Promise<readonly string[]>
  isOwn: (history: RunHistory) => Promise<boolean>
}

/**
 * Returns the journals of one workload on this machine, whatever its deployment was called when they were begun. Begins
 * new ones in `directory`; resumes a run of another folder where it is. Throws as `runFolder` does.
 */
export function runFolders(directory: string, { folders, isOwn }: Beside): RunStore {
  const main = runFolder(directory)
  const storeOf = async (run: string): Promise<RunStore> => {
    if (!isRunName(run) || (await isThere(directory, run))) return main
    for (const folder of await folders()) {
      if (!(await isThere(folder, run))) continue
      const other = runFolder(folder)
      // unreadable runs there belong to that folder's own workload
      const found = (await other.list()).find((it) => 'record' in it && it.record.run === run)
      if (found && 'record' in found && (await isOwn(found))) return other
    }
    return main
  }
  return {
    ...main,
    reopen: async (run) => (await storeOf(run)).reopen(run),
    read: async (run) => (await storeOf(run)).read(run),
    async list() {
      const all = [...(await main.list())]
      const known = new Set(all.map((it) => ('record' in it ? it.record.run : it.run)))
      for (const folder of await folders()) {
        for (const it of await runFolder(folder).list()) {
          if ('record' in it && !known.has(it.record.run) && (await isOwn(it))) all.push(it)
        }
      }
      return all.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    },
    keep: async (run, name, text) => (await storeOf(run)).keep!(run, name, text),
    keptText: async (run, name) => (await storeOf(run)).keptText!(run, name),
    remove: async (run) => (await storeOf(run)).remove(run),
  }
}

function nameOf(it: Awaited<ReturnType<RunStore['list']>>[number]): string {
  return 'record' in it ? it.record.run : it.run
}

async function isThere(folder: string, run: string): Promise<boolean> {
  return stat(join(folder, run)).then(
    () => true,
    () => false,
  )
}
