import type { ServiceControl } from '../../core/controls.ts'
import type { KubernetesClient } from './client.ts'
import { giveUpFields, ownsFields, withoutOwning } from './fields.ts'
import { scaleDown, scaleUp, tryScale } from './scale.ts'
import type { ClusterService } from './service.ts'
import { patchSetting } from './setting.ts'

const pollMs = 500

/** How the service in a cluster is stopped, started and changed. Throws as the client does, too. */
export function clusterControl(
  given: KubernetesClient,
  service: Pick<ClusterService, 'place' | 'container' | 'status' | 'forget'>,
): ServiceControl {
  const { place: workload, container } = service
  const client = withoutOwning(given, workload)
  /** What a killed process left behind. */
  const giveUp = async (): Promise<void> => giveUpFields(given, workload)
  const scaled = { client, workload, pollMs, status: async () => service.status() }
  const settings = { client, workload, container }
  /** one that fails may have been carried out */
  const written = async <T>(writing: Promise<T>): Promise<T> => {
    service.forget()
    return writing.finally(() => service.forget())
  }
  return {
    stop: async (options) => written(giveUp().then(async () => scaleDown(scaled, options))),
    tryStop: async () => tryScale(scaled),
    start: async (options) => written(giveUp().then(async () => scaleUp(scaled, options))),
    writeSetting: async (change) => written(giveUp().then(async () => patchSetting(settings, change))),
    trySetting: async (change) => patchSetting(settings, change, { dryRun: true }),
    ownsFields: async () => ownsFields(given, workload),
    giveUpFields: async () => written(giveUp()),
  }
}
