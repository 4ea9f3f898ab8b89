import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { writePrivate } from './private-file.ts'
import type { ServerRecord } from './types.ts'
import { command } from '../../core/shell-command.ts'

const fileName = 'server.json'

/**
 * Writes `directory/server.json` (mode 0600) in one step: readers see the old or the new one. Creates the directory
 * (0700).
 */
export async function writeRecord(record: ServerRecord): Promise<void> {
  await writePrivate(join(record.directory, fileName), `${JSON.stringify(record, null, 2)}\n`)
}

/**
 * Reads the record of the server started, or being started, in that directory; null: there is none. Throws FAILED if
 * the file is damaged.
 */
export async function readServer(directory: string): Promise<ServerRecord | null> {
  const path = join(directory, fileName)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return null
    throw new AdminError('FAILED', `could not read ${path}: ${messageOf(error)}`, [], { cause: error })
  }
  try {
    const record = JSON.parse(text) as ServerRecord
    if (record.schemaVersion !== 1 || typeof record.id !== 'string')
      throw new Error('it was written by another version')
    // the folder may have been moved: trust its present path
    return { ...record, directory }
  } catch (error) {
    throw new AdminError(
      'FAILED',
      `the server's record ${path} is damaged: ${messageOf(error)}`,
      [command`rm -r ${directory}`],
      {
        cause: error,
      },
    )
  }
}
