import { join } from 'node:path'
import { AdminError } from '../core/error.ts'
import { findComposeProjects, findReleases, findUnits } from '../platforms/index.ts'
import type { Finder, Found, Seen } from '../platforms/index.ts'
import { fileName } from './configuration/find.ts'
import type { DeploymentSettings } from './configuration/schema.ts'
import type { Environment } from './paths.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** One finder for each platform; all search at the same time. */
const finders: readonly Finder[] = [findUnits, findComposeProjects, findReleases]

/** Milliseconds for each search: a command waits for it before it does anything */
const deadlineMs = 3000

export interface Discovered {
  name: string
  /** For people: 'compose project `testops` (service testops, image …)' */
  what: string
  settings: DeploymentSettings
  /** Absolute path where its configuration would lie; there is none */
  file: string
  /** What was opened to find it, if it was kept */
  seen?: Seen
}

export interface Discovery {
  found: readonly Discovered[]
  /** Where nothing was found, for people */
  looked: readonly string[]
  /** What could not be checked, and may hold another deployment */
  unseen: readonly string[]
  /** What to type about `unseen` */
  next: readonly Suggestion[]
  /** The error of the first named place that could not be checked */
  failure?: AdminError
}

export interface DiscoveryRequest {
  environment: Environment
  workingDirectory: string
  signal?: AbortSignal | undefined
  /** True if the only deployment that is found is opened next */
  isKept?: boolean
}

/**
 * Looks for deployments on every platform. A platform that fails is reported and does not stop the others. Throws
 * INTERRUPTED.
 */
export async function discover(
  { environment, workingDirectory: folder, signal, isKept = false }: DiscoveryRequest,
  all: readonly Finder[] = finders,
): Promise<Discovery> {
  const searches = await Promise.all(
    all.map(async (find) => {
      try {
        return await find({ timeoutMs: deadlineMs, environment, folder, isKept, ...(signal && { signal }) })
      } catch (error) {
        if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
        return { found: [], looked: error.message, unseen: error.message, next: error.suggestions }
      }
    }),
  )
  const found = searches.flatMap((it) => it.found)
  const names = found.map(({ name }) => name)
  const failure = searches.find((it) => it.failure)?.failure
  return {
    found: found.map((it) => ({
      // a unit and a project may have the same name
      name: names.indexOf(it.name) === names.lastIndexOf(it.name) ? it.name : `${it.name}-${it.place.platform}`,
      what: it.what,
      settings: settingsOf(it),
      file: join(folder, fileName),
      ...(it.seen && { seen: it.seen }),
    })),
    looked: searches.filter((it) => it.found.length === 0).map(({ looked }) => looked),
    unseen: searches.flatMap(({ unseen }) => unseen ?? []),
    next: searches.flatMap(({ next }) => next ?? []),
    ...(failure && { failure }),
  }
}

/** Returns what a configuration would say of a deployment that was found. */
function settingsOf({ place, what }: Found): DeploymentSettings {
  switch (place.platform) {
    case 'host':
      return { platform: 'host', host: { unit: place.unit } }
    case 'compose': {
      const file = place.file === null ? {} : { file: { path: place.file, at: what } }
      return { platform: 'compose', compose: { project: place.project, service: place.service, ...file } }
    }
    case 'kubernetes': {
      const context = place.context === null ? {} : { context: place.context }
      return { platform: 'kubernetes', kubernetes: { ...context, namespace: place.namespace, release: place.release } }
    }
  }
}
