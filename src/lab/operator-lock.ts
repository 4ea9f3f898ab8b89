import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { AdminError } from '../core/error.ts'
import type { LabLayout } from './layout.ts'
import { identify, isAlive } from './service-control/process-identity.ts'
import type { ProcessIdentity } from './service-control/process-identity.ts'

interface Operator extends ProcessIdentity {
  command: string
  since: string
}

/**
 * Runs a command that changes the lab, one at a time. The lock of a process that died is taken over.
 * Throws BUSY with who is at work, since when and on what.
 */
export async function asOperator<T>({ lock, root }: LabLayout, command: string, work: () => Promise<T>): Promise<T> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  const own: Operator = { ...(await identify(process.pid))!, command, since: new Date().toISOString() }
  const text = JSON.stringify(own)
  const draft = `${lock}.${process.pid}`
  await writeFile(draft, text, { mode: 0o600 })
  try {
    await claim(lock, draft)
  } finally {
    await rm(draft, { force: true })
  }
  try {
    return await work()
  } finally {
    if ((await textOf(lock)) === text) await rm(lock, { force: true })
  }
}

/** The operator who is at work on the lab; null: nobody. */
export async function operatorAtWork({ lock }: LabLayout): Promise<Operator | null> {
  return livingOperator(await textOf(lock))
}

async function claim(lock: string, draft: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    // a link appears whole or not at all
    if (await succeeds(link(draft, lock), 'EEXIST')) return
    const found = await textOf(lock)
    const operator = await livingOperator(found)
    if (operator) throw busy(operator)
    // a dead operator's lock is moved away; should another one have come in between, it is put back
    const aside = `${lock}.stale.${process.pid}`
    if (!(await succeeds(rename(lock, aside), 'ENOENT'))) continue
    const moved = await textOf(aside)
    if (moved !== found) await succeeds(link(aside, lock), 'EEXIST')
    await rm(aside, { force: true })
  }
  throw new AdminError('BUSY', 'several operators reach for the lab at once', ['try again in a moment'])
}

async function livingOperator(text: string): Promise<Operator | null> {
  try {
    const operator = JSON.parse(text) as Operator
    return (await isAlive(operator)) ? operator : null
  } catch {
    return null
  }
}

function busy({ command, pid, since }: Operator): AdminError {
  return new AdminError('BUSY', `another operator is at work on the lab: \`${command}\` (process ${pid}) since ${since}`, [
    `ps -fp ${pid}`,
    'wait until it is done, then try again',
  ])
}

async function succeeds(work: Promise<void>, otherwise: string): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === otherwise) return false
    throw error
  }
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}
