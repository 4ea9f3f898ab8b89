import { afterEach, beforeEach, expect } from 'vitest'
import { kubernetesWorld } from './kubernetes-world.ts'
import type { KubernetesWorld } from './kubernetes-world.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

interface KubernetesPlace {
  readonly world: KubernetesWorld
  readonly place: Place
  /** the program, on that cluster */
  run(...words: string[]): Promise<Ended>
}

/**
 * For each test of a file a cluster whose service is ready, and a folder of its own whose configuration says no more
 * than the platform. `settings`: of the service.
 */
export function kubernetesPlace(settings: Readonly<Record<string, string>> = {}): KubernetesPlace {
  let world: KubernetesWorld
  let place: Place
  beforeEach(async () => {
    place = await freshPlace()
    await place.write('testops-admin.yaml', 'deployments:\n  prod: {platform: kubernetes}\n')
    world = await kubernetesWorld(settings)
    await expect.poll(world.isReady, { timeout: 20_000 }).toBe(true)
  })
  afterEach(async () => {
    await world.close()
    await place.remove()
  })
  return {
    get world() {
      return world
    },
    get place() {
      return place
    },
    run: async (...words) => place.run(words, { environment: { KUBECONFIG: world.kubeconfig } }),
  }
}
