import type { Risk } from '../core/plan.ts'
import type { ServiceSource, StartObstacle } from '../core/sources.ts'

/**
 * That the service may not come back once it is stopped. `mends`: kinds of obstacles that the repair itself may remove, since they may be the
 * very fault that it is for. Throws as the source does.
 */
export async function rolloutRisks(service: ServiceSource, mends: readonly StartObstacle['kind'][] = []): Promise<Risk[]> {
  const obstacles = (await service.startObstacles()).filter(({ kind }) => !mends.includes(kind))
  if (obstacles.length === 0) return []
  return [
    {
      name: 'stuck-rollout',
      message: `the service may not come back once it is stopped: ${obstacles.map(({ message }) => message).join('; ')}`,
      proof: [...new Set(obstacles.flatMap(({ proof }) => proof))],
    },
  ]
}
