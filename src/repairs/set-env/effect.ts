import { listed } from '../../core/format.ts'
import { AdminError } from '../../core/error.ts'
import type { ChartPlace } from '../../core/sources.ts'
import type { Effect } from '../files/effect.ts'

/**
 * Throws REFUSED where a setting would not come out as it was asked for, once and no more, or another setting or an
 * image would change.
 */
export function refuseOtherSettings(
  { settings, images }: Effect,
  wanted: readonly { name: string; to: string | null; path: readonly string[] }[],
  { chart }: ChartPlace,
): void {
  for (const { name, to, path } of wanted) {
    const changed = settings.filter((it) => it.name === name)
    if (changed.length === 0)
      throw new AdminError(
        'REFUSED',
        `chart ${chart} does not set ${name} from ${path.join('.')}. Nothing was changed`,
        ['--chart CHART   # if it is another chart'],
      )
    if (to === null) continue
    const odd = changed.find(({ is, times }) => is !== to || times !== 1)
    if (odd)
      throw new AdminError(
        'REFUSED',
        `with these values chart ${chart} sets ${name} ${odd.times === 1 ? 'to something else' : `${odd.times} times`} (${odd.at}): nothing was changed`,
        ['--chart CHART   # if it is another chart'],
      )
  }
  const others = [
    ...images,
    ...settings
      .filter(({ name }) => !wanted.some((it) => it.name === name))
      .map(({ at, name }) => ({ at: `${at}, ${name}` })),
  ].map(({ at }) => at)
  if (others.length === 0) return
  throw new AdminError(
    'REFUSED',
    `with these values chart ${chart} changes other settings or images: ${listed(others, 5)}. Nothing was changed`,
    ['--chart CHART   # if it is another chart'],
  )
}

/** The error for a setting that the chart makes by itself, of a key that is not known here. */
export function refuseTwice(name: string, { chart }: ChartPlace): AdminError {
  return new AdminError(
    'REFUSED',
    `chart ${chart} already sets ${name} itself: in env.open it would be set twice. Nothing was changed`,
    ["find its key in the chart's templates, and set that key"],
  )
}
