import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { codeOf } from '../core/error.ts'
import { folderFailure } from './folder.ts'
import { allServers } from './lab.ts'
import type { LabLayout } from './layout.ts'

/** Whether a lab lies in the folder, be it a half made, damaged or half removed one. */
export async function holdsLab(layout: LabLayout): Promise<boolean> {
  const names = await namesIn(layout)
  return names.includes(basename(layout.state)) || (await allServers(layout)).length > 0
}

/** What lies in the lab's folder. Throws UNAVAILABLE where it cannot be read. */
export async function namesIn({ root }: LabLayout): Promise<string[]> {
  try {
    return await readdir(root)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw folderFailure(error, root)
  }
}

/** What shows that a lab lies there, or did, or is about to. */
export async function tracesIn(layout: LabLayout): Promise<string[]> {
  const names = await namesIn(layout)
  const found = names.filter((name) => isLock(layout, name) || isOf(layout.state, name))
  return (await allServers(layout)).length > 0 ? [...found, basename(layout.servers)] : found
}

/** What the lab has made there besides its state and its locks. */
export async function partsIn(layout: LabLayout): Promise<string[]> {
  const { configuration, cpuinfo, secrets, servers, service, secondService, holder, proxy, externalSystem, savedPlan } =
    layout
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
  ]
  const names = await namesIn(layout)
  return names.filter(
    (name) => parts.some((part) => isOf(part, name)) || (isOf(layout.state, name) && name !== basename(layout.state)),
  )
}

/** Locks, and what a killed command left of the attempt to take one. */
export async function locksIn(layout: LabLayout): Promise<string[]> {
  return (await namesIn(layout)).filter((name) => isLock(layout, name) && name !== basename(layout.lock))
}

export function isLock({ lock }: LabLayout, name: string): boolean {
  return name === basename(lock) || name.startsWith(`${basename(lock)}.`)
}

/** The file itself, or its next version as a killed command left it. */
function isOf(path: string, name: string): boolean {
  const own = basename(path)
  return name === own || (name.startsWith(`${own}.`) && /^\.\d+\.new$/.test(name.slice(own.length)))
}
