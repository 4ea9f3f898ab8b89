import { AdminError } from '../../core/error.ts'
import type { PartContext } from './part.ts'

/** The service as its platform shows it. */
export function servicePart({ share, platform, deployment, settings }: PartContext) {
  return {
    source: share(async () => platform.service()),
    control: share(async () => settings.watched(await platform.control())),
    /** Returns what runs it, by name; null if its platform has no such names */
    workload: share(async () => (await platform.workload?.()) ?? null),
    /** Returns its Helm release, source and control in one */
    release: share(async () => {
      if (platform.release) return settings.watched(await platform.release())
      throw new AdminError(
        'NOT_CONFIGURED',
        `\`${deployment.name}\` does not run in a cluster, so it has no Helm release`,
      )
    }),
  }
}
