import { relative } from 'node:path'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'
import { readTimes, root } from './times.ts'

/** What takes minutes begins first, so that nothing is waited for alone at the end. */
export default class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const times = readTimes()
    const secondsOf = ({ moduleId }: TestSpecification): number => times[relative(root, moduleId)] ?? 0
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => secondsOf(other) - secondsOf(one))
  }
}
