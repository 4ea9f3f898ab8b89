import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { codeOf } from '../core/error.ts'
import { folderFailure } from './layout.ts'
import { allServers } from './lab.ts'
import type { LabLayout } from './layout.ts'

/** True if the folder holds a lab, even an unfinished, damaged or partly removed one. */
export async function holdsLab(layout: LabLayout): Promise<boolean> {
  const names = await namesIn(layout)
  return names.includes(basename(layout.state)) || (await allServers(layout)).length > 0
}

/** Lists the names of everything in the lab's folder. Throws UNAVAILABLE if it cannot be read. */
async function namesIn({ root }: LabLayout): Promise<string[]> {
  try {
    return await readdir(root)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw folderFailure(error, root)
  }
}

/** Lists the files that show that a lab is there, was there, or is about to be. */
export async function tracesIn(layout: LabLayout): Promise<string[]> {
  const names = await namesIn(layout)
  const found = names.filter((name) => isLock(layout, name) || isOf(layout.state, name))
  return (await allServers(layout)).length > 0 ? [...found, basename(layout.servers)] : found
}

/** Lists what the lab made in its folder, except its state and its locks. */
export async function partsIn(layout: LabLayout): Promise<string[]> {
  const {
    configuration,
    cpuinfo,
    secrets,
    servers,
    service,
    secondService,
    holder,
    proxy,
    externalSystem,
    savedPlan,
    drill,
  } = layout
  const parts = [
    configuration,
    cpuinfo,
    secrets,
    servers,
    service,
    secondService,
    holder,
    proxy,
    externalSystem,
    savedPlan,
    drill,
  ]
  const names = await namesIn(layout)
  return names.filter(
    (name) => parts.some((part) => isOf(part, name)) || (isOf(layout.state, name) && name !== basename(layout.state)),
  )
}

/** Lists the leftovers of commands killed while taking the lock; leaves out the lock itself. */
export async function locksIn(layout: LabLayout): Promise<string[]> {
  return (await namesIn(layout)).filter((name) => isLock(layout, name) && name !== basename(layout.lock))
}

/** Lists what is neither the lab's lock nor the records of repairs, which a deployment called `lab` keeps there. */
export async function othersIn(layout: LabLayout): Promise<string[]> {
  return (await namesIn(layout)).filter(
    (name) => !isLock(layout, name) && !/^(?:runs|repair\.lock(?:\..*)?)$/.test(name),
  )
}

function isLock({ lock }: LabLayout, name: string): boolean {
  return name === basename(lock) || name.startsWith(`${basename(lock)}.`)
}

/** True for the file itself and for a new version that a killed command left. */
function isOf(path: string, name: string): boolean {
  const own = basename(path)
  return name === own || (name.startsWith(`${own}.`) && /^\.\d+\.new$/.test(name.slice(own.length)))
}
