import type { Risk } from '../core/plan.ts'
import type { ServiceSource, StartObstacle } from '../core/sources.ts'

/**
 * That the service may not come back once it is stopped. `mends`: kinds of obstacles that the repair itself may remove,
 * since they may be the very fault that it is for; `stops`: false where new instances come before the old ones go.
 * Throws as the source does.
 */
export async function rolloutRisks(
  service: ServiceSource,
  { mends = [], stops = true }: { mends?: readonly StartObstacle['kind'][]; stops?: boolean } = {},
): Promise<Risk[]> {
  const obstacles = (await service.startObstacles()).filter(({ kind }) => !mends.includes(kind))
  if (obstacles.length === 0) return []
  return [
    {
      name: 'stuck-rollout',
      message: `${stops ? 'the service may not come back once it is stopped' : 'the new instances may never start'}: ${obstacles.map(({ message }) => message).join('; ')}`,
      proof: [...new Set(obstacles.flatMap(({ proof }) => proof))],
    },
  ]
}
