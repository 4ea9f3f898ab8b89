import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const folders: string[] = []

afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** Creates a folder that several tests of a file share; it is removed after all of them. */
export async function passingFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-'))
  folders.push(folder)
  return folder
}
