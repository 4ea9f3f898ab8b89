import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'

/**
 * What takes minutes begins first, so that nothing is waited for alone at the end; a clean clone does not know how long
 * each took.
 */
const slowest = [
  'test/faults/matrix.test.ts',
  'test/faults/old-broker.test.ts',
  'test/contracts/broker.test.ts',
  'test/lab/break-and-mend.test.ts',
]

export default class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = slowest.findIndex((name) => moduleId.endsWith(name))
      return place < 0 ? slowest.length : place
    }
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => placeOf(a) - placeOf(b))
  }
}
