import { mkdir, open, readFile, readdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import type { RunEvent, RunHistory, RunLog, RunRecord, RunStore } from '../core/run.ts'

const recordFile = 'run.json'
const journalFile = 'journal.jsonl'

/**
 * Journals as files, one folder a run: `run.json`, written once before anything is changed, and `journal.jsonl`, a line an event.
 * All is on disk (fsync) before it counts; folders are 0700, files 0600 (DESIGN.md 5).
 */
export function runFolder(directory: string): RunStore {
  const folderOf = (run: string): string => join(directory, run)
  const read = async (run: string): Promise<RunHistory> => {
    if (!isRunName(run)) throw noSuchRun(run, directory)
    const folder = folderOf(run)
    const record = parseRecord(await textOf(join(folder, recordFile), run), run, folder)
    const journal = await readFile(join(folder, journalFile), 'utf8').catch(ifMissing(''))
    return { record, events: parseEvents(journal, join(folder, journalFile)) }
  }
  return {
    where: directory,
    async begin(record) {
      const folder = folderOf(record.run)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const draft = join(folder, `${recordFile}.new`)
        await writeSynced(draft, `${JSON.stringify(record)}\n`)
        await rename(draft, join(folder, recordFile))
        const log = await journal(join(folder, journalFile))
        for (const made of [folder, directory, dirname(directory)]) await syncFolder(made)
        return log
      } catch (error) {
        throw unwritable(folder, error)
      }
    },
    async reopen(run) {
      await read(run)
      try {
        return await journal(join(folderOf(run), journalFile))
      } catch (error) {
        throw unwritable(folderOf(run), error)
      }
    },
    read,
    async list() {
      const names = await readdir(directory).catch(ifMissing<string[]>([]))
      const all = names.filter(isRunName).sort().map(async (run) => {
        // killed before it was on record: nothing had been changed
        if (!(await exists(join(folderOf(run), recordFile)))) return []
        return [await read(run).catch((error: unknown) => ({ run, unreadable: messageOf(error) }))]
      })
      return (await Promise.all(all)).flat()
    },
  }
}

/** The form of a run's name: when it began, what it is, and four characters that tell two of one second apart. */
function isRunName(name: string): boolean {
  return /^\d{8}T\d{6}Z-[a-z-]+-[0-9a-f]{4}$/.test(name)
}

async function journal(file: string): Promise<RunLog> {
  const before = await readFile(file).catch(ifMissing(Buffer.alloc(0)))
  const handle = await open(file, 'a', 0o600)
  // a line that was cut short by a kill or a full disk says nothing, and must not swallow the next one
  const whole = before.lastIndexOf(0x0a) + 1
  if (whole < before.length) await handle.truncate(whole)
  return {
    async append(event) {
      try {
        await handle.appendFile(`${JSON.stringify(event)}\n`)
        await handle.datasync()
      } catch (error) {
        throw unwritable(file, error)
      }
    },
    close: async () => handle.close(),
  }
}

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A new name is on disk only once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function parseRecord(text: string, run: string, folder: string): RunRecord {
  const record = parse(text) as Partial<RunRecord> | undefined
  const again = [`ls -l ${folder}`]
  if (record === undefined || record.run !== run || record.plan === undefined) {
    throw new AdminError('UNEXPECTED_ANSWER', `the journal of run ${run} cannot be read: ${recordFile} in ${folder} is damaged`, again)
  }
  if (record.schemaVersion !== 1) {
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `the journal of run ${run} was written by testops-admin ${record.program ?? '(unknown)'}, in a form that this version does not know`,
      [`use the version that began it: ${record.program ?? 'see its run.json'}`],
    )
  }
  return record as RunRecord
}

/** The events. Only the last line may be cut short: whatever it was going to say had not been begun or not been noted. */
function parseEvents(text: string, file: string): RunEvent[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return whole.split('\n').slice(0, -1).map((line, index) => {
    const event = parse(line) as RunEvent | null | undefined
    if (typeof event?.event === 'string') return event
    throw new AdminError('UNEXPECTED_ANSWER', `the journal ${file} is damaged in line ${index + 1}`, [`sed -n ${index + 1}p ${file}`])
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function textOf(file: string, run: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      throw noSuchRun(run, dirname(dirname(file)))
    throw new AdminError('UNAVAILABLE', `the journal of run ${run} cannot be read: ${messageOf(error)}`, [`ls -l ${file}`], {
      cause: error,
    })
  }
}

function noSuchRun(run: string, directory: string): AdminError {
  return new AdminError('USAGE', `there is no run \`${run}\` in ${directory}`, ['testops-admin history'])
}

function unwritable(where: string, error: unknown): AdminError {
  return new AdminError('UNAVAILABLE', `the journal cannot be written: ${messageOf(error)}`, [
    `ls -ld ${where}`,
    'XDG_STATE_HOME=DIRECTORY keeps journals in another folder',
  ], { cause: error })
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(() => true, ifMissing(false))
}

function ifMissing<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (codeOf(error) === 'ENOENT') return otherwise
    throw error
  }
}
