import { AdminError } from '../../src/core/error.ts'
import type { RunEvent, RunHistory, RunRecord, RunStore } from '../../src/core/run.ts'
import { parseEvents, parseRecord } from '../../src/core/run-record.ts'

/** Journals in memory, as both kinds of places keep them: line by line, read strictly. */
export interface FakeRunStore extends RunStore {
  /** The lines of each run, the record first */
  readonly kept: Map<string, unknown[]>
  /** Error of every later write; null: writes succeed */
  failing: AdminError | null
  /** Number of writes so far */
  writes: number
  /** Lines of others that were kept, by file */
  readonly foreign: Map<string, string[]>
}

export function fakeRunStore(where = 'memory'): FakeRunStore {
  const kept = new Map<string, unknown[]>()
  const read = async (run: string): Promise<RunHistory> => {
    const lines = kept.get(run)
    if (!lines)
      throw new AdminError('USAGE', `no run \`${run}\` on record in ${where}`, [
        'testops-admin history -d {deployment}',
      ])
    if (lines.length === 0) throw new AdminError('REFUSED', `${where} holds nothing of run ${run}`)
    const [head, ...events] = lines.map((line) => JSON.parse(JSON.stringify(line)) as unknown)
    const place = { where, look: [] }
    const record = parseRecord(head, run, place)
    return { record, events: parseEvents(events, record, place, (index) => `line ${index + 1}`) }
  }
  const write = async (run: string, ...values: readonly (RunRecord | RunEvent)[]): Promise<void> => {
    if (store.failing) throw store.failing
    store.writes += 1
    const lines = kept.get(run)
    if (!lines) throw new AdminError('USAGE', `${where} has lost run ${run}`)
    lines.push(...values)
  }
  const store: FakeRunStore = {
    where,
    kept,
    failing: null,
    writes: 0,
    foreign: new Map(),
    async begin(record, events = []) {
      if (store.failing) throw store.failing
      if (!kept.has(record.run)) kept.set(record.run, [])
      for (const line of [record, ...events]) await write(record.run, line)
      return { append: async (...lines) => write(record.run, ...lines), close: async () => undefined }
    },
    async reopen(run) {
      await read(run)
      return { append: async (...lines) => write(run, ...lines), close: async () => undefined }
    },
    read,
    async list() {
      const runs = [...kept.keys()].sort()
      return Promise.all(
        runs.map(async (run) => read(run).catch((error: Error) => ({ run, unreadable: error.message }))),
      )
    },
    async discard(run, save) {
      const lines = kept.get(run)
      if (!lines) throw new AdminError('USAGE', `no run \`${run}\` on record in ${where}`)
      for (const line of lines) await save(JSON.stringify(line))
      kept.delete(run)
    },
    async keepForeign(run) {
      const file = `${where}/discarded/${store.foreign.size}-${run.length}.jsonl`
      const lines: string[] = []
      store.foreign.set(file, lines)
      return { file, append: async (line) => void lines.push(line), close: async () => undefined }
    },
    async remove(run) {
      if (store.failing) throw store.failing
      kept.delete(run)
    },
  }
  return store
}
