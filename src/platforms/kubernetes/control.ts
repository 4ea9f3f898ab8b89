import type { ServiceControl } from '../../core/controls.ts'
import type { KubernetesClient } from './client.ts'
import { scaleDown, scaleUp, tryScale } from './scale.ts'
import type { ClusterService } from './service.ts'
import { patchSetting } from './setting.ts'

const pollMs = 500

/** How the service of a cluster is stopped, started and set. Throws as the client does, too. */
export function clusterControl(client: KubernetesClient, service: Pick<ClusterService, 'place' | 'container' | 'status'>): ServiceControl {
  const { place: workload, container } = service
  const scaled = { client, workload, pollMs, status: async () => service.status() }
  const settings = { client, workload, container }
  return {
    stop: async (options) => scaleDown(scaled, options),
    tryStop: async () => tryScale(scaled),
    start: async (options) => scaleUp(scaled, options),
    writeSetting: async (change) => patchSetting(settings, change),
    trySetting: async (change) => patchSetting(settings, change, { dryRun: true }),
  }
}
