import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import type { ServerRecord } from './types.ts'

/**
 * Writes a file (mode 0600) in one step and syncs it: readers see the old or the new one. Creates its folder (0700).
 */
export async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}.new`
  const file = await open(next, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(next, path)
}

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
      throw new Error('another version of testops-admin wrote it')
    // the folder may have been moved: trust its present path
    return { ...record, directory }
  } catch (error) {
    throw new AdminError(
      'FAILED',
      `cannot use ${path}, the lab's record of a server: ${messageOf(error)}`,
      [command`rm -r ${directory}`],
      {
        cause: error,
      },
    )
  }
}
