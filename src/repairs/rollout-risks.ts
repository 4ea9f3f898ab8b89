import type { Risk } from '../core/plan.ts'
import type { ServiceSource, StartObstacle } from '../core/sources.ts'

/**
 * Returns the risk that the service may not come back after a stop. `mends`: kinds of obstacles that the repair itself
 * may remove, as they may be the fault it is for. `stops`: false if new instances start before the old ones stop.
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
