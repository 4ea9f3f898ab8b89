import { createHash } from 'node:crypto'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Dirent } from 'node:fs'
import { dirname, join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import type { RunHistory, RunLog, RunStore } from '../core/run.ts'
import { assertRunName, isRunName } from '../core/run.ts'
import { parseEvents, parseRecord } from '../core/run-record.ts'
import type { Place } from '../core/run-record.ts'
import { typed } from '../core/typed.ts'
import { makeFolder, syncFolder, writeSynced } from './replace-file.ts'
import { assertOwnFile, assertOwnFolder } from './trust/assert.ts'
import { asPath } from '../core/shell-command.ts'

const recordFile = 'run.json'
const journalFile = 'journal.jsonl'

/**
 * Returns a store of journals as files, one folder per run: `run.json`, written once before anything changes,
 * `journal.jsonl`, one line per event, and files for people. Everything is on disk (fsync) before it counts; folders
 * are 0700, files 0600 (DESIGN.md 5). A folder appears complete or not at all. Every call throws REFUSED if others
 * could have written the folder or the file: a journal says what is done to the deployment.
 */
export function runFolder(directory: string): RunStore {
  // a path is made only of a valid run name
  const folderOf = (run: string): string => {
    assertRunName(run)
    return join(directory, run)
  }
  const read = async (run: string): Promise<RunHistory> => {
    const folder = folderOf(run)
    readable(directory)
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
        assertOwnFolder(directory, { toWrite: true })
        // left by a process that was killed before it recorded the run
        await rm(draft, { recursive: true, force: true })
        const topmost = await makeFolder(draft)
        // in a folder that is open to all, another user may have created it first
        assertOwnFolder(draft, { toWrite: true })
        await writeSynced(join(draft, recordFile), `${JSON.stringify(record)}\n`)
        await writeSynced(join(draft, journalFile), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
        await syncFolder(draft)
        await rename(draft, folder)
        for (const above of parents(folder, dirname(topmost ?? folder))) await syncFolder(above)
        return await journal(join(folder, journalFile))
      } catch (error) {
        throw unwritable(folder, error, 'new')
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
      readable(directory)
      const names = await readdir(directory).catch(ifMissing<string[]>(directory, []))
      const all = names.filter(isRunName).sort()
      return Promise.all(
        all.map(async (run) => read(run).catch((error: unknown) => ({ run, unreadable: messageOf(error) }))),
      )
    },
    async strangers() {
      const entries = await readdir(directory, { withFileTypes: true }).catch(ifMissing<Dirent[]>(directory, []))
      const strange = entries.filter((entry) => entry.isDirectory() && !isOurs(entry.name))
      return strange.map(({ name }) => ({
        run: name,
        unreadable: `this folder in ${directory} is not named after a run`,
      }))
    },
    async keep(run, name, text) {
      const file = keptFile(folderOf(run), name)
      try {
        assertOwnFolder(folderOf(run), { toWrite: true })
        // left by an earlier try whose end could not be recorded
        await rm(file, { force: true })
        await writeSynced(file, text)
      } catch (error) {
        throw unwritable(file, error)
      }
      return file
    },
    async keepForeign(run) {
      const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
      // a name that others gave is not used as a file name
      const name = isRunName(run) ? run : `record-${createHash('sha256').update(run).digest('hex').slice(0, 16)}`
      const file = join(dirname(directory), 'discarded', `${name}.${stamp}.jsonl`)
      try {
        await makeFolder(dirname(file))
        const handle = await open(file, 'wx', 0o600)
        await syncFolder(dirname(file))
        return {
          file,
          async append(line) {
            await handle.appendFile(`${JSON.stringify(line)}\n`)
            await handle.datasync()
          },
          close: async () => handle.close(),
        }
      } catch (error) {
        throw unwritable(file, error)
      }
    },
    async keptText(run, name) {
      const file = keptFile(folderOf(run), name)
      return textIn(file).catch(ifMissing(dirname(file), null))
    },
    async remove(run) {
      const folder = folderOf(run)
      try {
        assertOwnFolder(directory, { toWrite: true })
        await rename(folder, `${folder}.aside-${Date.now().toString(36)}`)
        await syncFolder(directory)
      } catch (error) {
        throw unwritable(folder, error)
      }
    },
  }
}

/** Throws REFUSED if others may write the journals, UNAVAILABLE if that is unknown. */
function readable(directory: string): void {
  try {
    assertOwnFolder(directory)
  } catch (error) {
    ifMissing(directory, null)(error)
  }
}

/** Lists the folders above one, from its parent up to `last`: a new name is on disk only once they are. */
function parents(folder: string, last: string): string[] {
  const above = dirname(folder)
  return above === last || above === folder ? [above] : [above, ...parents(above, last)]
}

/**
 * Returns the path of a kept file, which is named after a setting: a plan of others may name it. Throws REFUSED if the
 * name is not a plain file name.
 */
function keptFile(folder: string, name: string): string {
  if (/^[\w-][\w.-]{0,199}$/.test(name)) return join(folder, name)
  throw new AdminError('REFUSED', `cannot save anything under the name \`${name}\`: it is not a plain file name`, [])
}

/** True for the folder of a run, or a name that `begin`, `remove`, or a person made of one. */
function isOurs(name: string): boolean {
  return isRunName(name.replace(/\.(?:new|aside(?:-[0-9a-z]+)?)$/, ''))
}

async function journal(file: string): Promise<RunLog> {
  const handle = await open(file, 'a+', 0o600)
  const before = await own(file, handle)
  // a line that a kill or a full disk cut short says nothing, and must not swallow the next one
  const whole = before.lastIndexOf(0x0a) + 1
  if (whole < before.length) await handle.truncate(whole)
  let size = whole
  return {
    async append(...events) {
      const line = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
      try {
        await handle.appendFile(line)
        await handle.datasync()
        size += line.length
      } catch (error) {
        // removes what a full disk kept of the line, so that a later line does not join it
        await handle.truncate(size).catch(() => undefined)
        throw unwritable(file, error)
      }
    },
    close: async () => handle.close(),
  }
}

/** Returns the whole lines. Only the last may be cut short: its event was not begun, or not recorded. */
function wholeLines(text: string): string[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a file once its descriptor shows that nobody else can have written it. Closes it on an error. */
async function own(file: string, handle: FileHandle): Promise<Buffer> {
  try {
    assertOwnFile(file, handle.fd)
    return await handle.readFile()
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function textIn(file: string): Promise<string> {
  const handle = await open(file)
  const bytes = await own(file, handle)
  await handle.close()
  return bytes.toString('utf8')
}

async function textOf(file: string, run: string): Promise<string> {
  try {
    return await textIn(file)
  } catch (error) {
    if (error instanceof AdminError) throw error
    const { look } = placeOf(file)
    if (codeOf(error) === 'ENOENT')
      throw new AdminError(
        'UNEXPECTED_ANSWER',
        `the saved record of run ${run} is damaged: file ${file} is missing`,
        look,
        {
          cause: error,
        },
      )
    throw new AdminError('UNAVAILABLE', `the saved record of run ${run} cannot be read: ${messageOf(error)}`, look, {
      cause: error,
    })
  }
}

function placeOf(file: string): Place {
  return { where: file, look: [typed(['ls', '-l', asPath(dirname(file))])] }
}

function noSuchRun(run: string, directory: string): AdminError {
  return new AdminError('USAGE', `no run \`${run}\` on record in ${directory}`, [
    'testops-admin history -d {deployment}',
  ])
}

/**
 * Explains why a journal cannot be written. A `new` run may also be kept elsewhere. A run under way is found again only
 * where it was begun.
 */
function unwritable(where: string, error: unknown, kind: 'new' | 'begun' = 'begun'): AdminError {
  if (error instanceof AdminError) return error
  const folder = asPath(dirname(where))
  const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')
  return new AdminError(
    'UNAVAILABLE',
    `the record of this run cannot be saved: ${messageOf(error)}`,
    [
      isFull ? typed(['df', '-h', folder]) : typed(['ls', '-ld', folder]),
      ...(kind === 'new'
        ? (['export XDG_STATE_HOME=DIRECTORY   # keeps the saved records of runs in another folder'] as const)
        : ([
            isFull
              ? 'free some space on this disk, and do not change XDG_STATE_HOME: the run resumes from this folder'
              : 'make the folder writable again, and do not change XDG_STATE_HOME: the run resumes from this folder',
          ] as const)),
    ],
    { cause: error },
  )
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(() => true, ifMissing(dirname(file), false))
}

function ifMissing<T>(directory: string, otherwise: T): (error: unknown) => T {
  return (error) => {
    if (codeOf(error) === 'ENOENT') return otherwise
    if (error instanceof AdminError) throw error
    throw new AdminError(
      'UNAVAILABLE',
      `the saved records of runs on this machine cannot be read: ${messageOf(error)}`,
      [typed(['ls', '-ld', asPath(directory)])],
      { cause: error },
    )
  }
}
