import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { SourceName, Sources } from '../../core/sources.ts'

/** What is looked at before an edit is applied; a file that is edited by itself has none of it. */
export const applyReads = [
  'release',
  'service',
  'database',
  'broker',
  'logs',
  'api',
] as const satisfies readonly SourceName[]

/** A deployment whose files are edited. */
export interface Surroundings {
  sources: { [K in (typeof applyReads)[number]]: Wanted<Sources[K]> }
  deployment: Deployment
}

/** The chart of a release, in the version that is installed where none is named. Throws as the release does. */
export async function installedChart<C extends { chart: string; chartVersion: string | null }>(
  chart: C,
  { sources }: Surroundings,
): Promise<C> {
  return { ...chart, chartVersion: chart.chartVersion ?? (await needed(sources.release).latest()).chart.version }
}

/** Throws why it cannot be had. */
export function needed<T>(source: Wanted<T>): T {
  if (source instanceof AdminError) throw source
  return source
}
