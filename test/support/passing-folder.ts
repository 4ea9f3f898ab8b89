import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const folders: string[] = []

afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** A folder of its own, gone when all tests of the file have ended: for what several of them share. */
export async function passingFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-'))
  folders.push(folder)
  return folder
}
