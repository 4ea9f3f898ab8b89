import type { ServiceControl } from '../../core/controls.ts'
import type { KubernetesClient } from './client.ts'
import type { Workload } from './objects.ts'
import { podsOf } from './pods.ts'
import { scaleDown, scaleUp, tryScale } from './scale.ts'
import type { ClusterService } from './service.ts'
import { patchSetting } from './setting.ts'

const pollMs = 500

/** How the service of a cluster is stopped, started and set. Throws as the client does, too. */
export function clusterControl(client: KubernetesClient, service: Pick<ClusterService, 'place' | 'container' | 'status' | 'forget'>): ServiceControl {
  const { place: workload, container } = service
  const scaled = { client, workload, pollMs, status: async () => service.status(), pods: async (now: Workload) => podsOf(client, workload, now) }
  const settings = { client, workload, container }
  /** one that fails may have been carried out */
  const written = async <T>(writing: Promise<T>): Promise<T> => {
    service.forget()
    return writing.finally(() => service.forget())
  }
  return {
    stop: async (options) => written(scaleDown(scaled, options)),
    tryStop: async () => tryScale(scaled),
    start: async (options) => written(scaleUp(scaled, options)),
    writeSetting: async (change) => written(patchSetting(settings, change)),
    trySetting: async (change) => patchSetting(settings, change, { dryRun: true }),
  }
}
