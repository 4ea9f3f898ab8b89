import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunName } from '../core/run-name.ts'
import type { RunHistory, RunStore } from '../core/run.ts'
import { runFolder } from './run-folder.ts'

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
