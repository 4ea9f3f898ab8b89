import { mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import type { RunHistory, RunLog, RunStore } from '../core/run.ts'
import { parseEvents, parseRecord } from '../core/run-record.ts'
import type { Place } from '../core/run-record.ts'
import { typed } from '../core/typed.ts'
import { syncFolder, writeSynced } from './replace-file.ts'

const recordFile = 'run.json'
const journalFile = 'journal.jsonl'

/**
 * Journals as files, one folder a run: `run.json`, written once before anything is changed, `journal.jsonl`, a line an event, and
 * what a run leaves for people.
 * All is on disk (fsync) before it counts; folders are 0700, files 0600 (DESIGN.md 5). A folder appears whole or not at all.
 */
export function runFolder(directory: string): RunStore {
  const folderOf = (run: string): string => join(directory, run)
  const read = async (run: string): Promise<RunHistory> => {
    if (!isRunName(run)) throw noSuchRun(run, directory)
    const folder = folderOf(run)
    if (!(await exists(folder))) throw noSuchRun(run, directory)
    const ofRecord = placeOf(join(folder, recordFile))
    const ofEvents = placeOf(join(folder, journalFile))
    const record = parseRecord(parse(await textOf(ofRecord.where, run)), run, ofRecord)
    const lines = wholeLines(await textOf(ofEvents.where, run))
    return { record, events: parseEvents(lines.map(parse), record, ofEvents, (index) => `line ${index + 1}`) }
  }
  return {
    where: directory,
    async begin(record, events = []) {
      const folder = folderOf(record.run)
      const draft = `${folder}.new`
      try {
        // of one that was killed before the run was on record
        await rm(draft, { recursive: true, force: true })
        const topmost = await mkdir(draft, { recursive: true, mode: 0o700 })
        await writeSynced(join(draft, recordFile), `${JSON.stringify(record)}\n`)
        await writeSynced(join(draft, journalFile), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
        await syncFolder(draft)
        await rename(draft, folder)
        for (const above of parents(folder, dirname(topmost ?? folder))) await syncFolder(above)
        return await journal(join(folder, journalFile))
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
      const names = await readdir(directory).catch(ifMissing<string[]>(directory, []))
      const all = names.filter(isRunName).sort()
      return Promise.all(all.map(async (run) => read(run).catch((error: unknown) => ({ run, unreadable: messageOf(error) }))))
    },
    async keep(run, name, text) {
      const file = join(folderOf(run), name)
      try {
        // of one that was told, and could not note that it had come to its end
        await rm(file, { force: true })
        await writeSynced(file, text)
      } catch (error) {
        throw unwritable(file, error)
      }
      return file
    },
    async keptText(run, name) {
      const file = join(folderOf(run), name)
      return readFile(file, 'utf8').catch(ifMissing(dirname(file), null))
    },
    async remove(run) {
      const folder = folderOf(run)
      try {
        await rename(folder, `${folder}.aside-${Date.now().toString(36)}`)
        await syncFolder(directory)
      } catch (error) {
        throw unwritable(folder, error)
      }
    },
  }
}

/** The folders above one, from its own on, up to `last`: a new name is on disk only once they are. */
function parents(folder: string, last: string): string[] {
  const above = dirname(folder)
  return above === last || above === folder ? [above] : [above, ...parents(above, last)]
}

/** The form of a run's name: when it began, what it is, and four characters that tell two of one second apart. */
function isRunName(name: string): boolean {
  return /^\d{8}T\d{6}Z-[a-z-]+-[0-9a-f]{4}$/.test(name)
}

async function journal(file: string): Promise<RunLog> {
  const before = await readFile(file)
  const handle = await open(file, 'a', 0o600)
  // a line that was cut short by a kill or a full disk says nothing, and must not swallow the next one
  const whole = before.lastIndexOf(0x0a) + 1
  if (whole < before.length) await handle.truncate(whole)
  let size = whole
  return {
    async append(event) {
      const line = Buffer.from(`${JSON.stringify(event)}\n`)
      try {
        await handle.appendFile(line)
        await handle.datasync()
        size += line.length
      } catch (error) {
        // what fits of it on a full disk is cut off again, so that a later line does not join it
        await handle.truncate(size).catch(() => undefined)
        throw unwritable(file, error)
      }
    },
    close: async () => handle.close(),
  }
}

/** Only the last line may be cut short: whatever it was going to say had not been begun or not been noted. */
function wholeLines(text: string): string[] {
  return text.slice(0, text.lastIndexOf('\n') + 1).split('\n').slice(0, -1)
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
    const { look } = placeOf(file)
    if (codeOf(error) === 'ENOENT')
      throw new AdminError('UNEXPECTED_ANSWER', `the journal of run ${run} is damaged: ${file} is missing`, look, { cause: error })
    throw new AdminError('UNAVAILABLE', `the journal of run ${run} cannot be read: ${messageOf(error)}`, look, { cause: error })
  }
}

function placeOf(file: string): Place {
  return { where: file, look: [typed(['ls', '-l', dirname(file)])] }
}

function noSuchRun(run: string, directory: string): AdminError {
  return new AdminError('USAGE', `there is no run \`${run}\` in ${directory}`, ['testops-admin history -d {deployment}'])
}

function unwritable(where: string, error: unknown): AdminError {
  return new AdminError('UNAVAILABLE', `the journal cannot be written: ${messageOf(error)}`, [
    typed(['ls', '-ld', dirname(where)]),
    'export XDG_STATE_HOME=DIRECTORY   # keeps journals in another folder',
  ], { cause: error })
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(() => true, ifMissing(dirname(file), false))
}

function ifMissing<T>(directory: string, otherwise: T): (error: unknown) => T {
  return (error) => {
    if (codeOf(error) === 'ENOENT') return otherwise
    throw new AdminError('UNAVAILABLE', `the journals of this machine cannot be read: ${messageOf(error)}`, [typed(['ls', '-ld', directory])], { cause: error })
  }
}
