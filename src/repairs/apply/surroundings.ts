import type { Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { SourceName, Sources } from '../../core/sources.ts'

/** Sources read before an edit is applied; an edit of a file alone needs none of them. */
export const applyReads = [
  'release',
  'service',
  'database',
  'broker',
  'logs',
  'api',
] as const satisfies readonly SourceName[]

/** The deployment whose files are edited, and its sources. */
export interface Surroundings {
  sources: { [K in (typeof applyReads)[number]]: Wanted<Sources[K]> }
  deployment: Deployment
}

/** Sets the chart's version to the installed one if none is named. Throws as the release does. */
export async function installedChart<C extends { chart: string; chartVersion: string | null }>(
  chart: C,
  { sources }: Surroundings,
): Promise<C> {
  return { ...chart, chartVersion: chart.chartVersion ?? (await needed(sources.release).latest()).chart.version }
}

/** Returns the source; throws why it cannot be opened. */
export function needed<T>(source: Wanted<T>): T {
  if (source instanceof AdminError) throw source
  return source
}
