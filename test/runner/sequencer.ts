import { relative } from 'node:path'
import { BaseSequencer } from 'vitest/node'
import type { TestSpecification } from 'vitest/node'
import { readTimes, root } from './times.ts'

/** A worker whose next file is of another project ends, and loses all that it has loaded. */
const order = ['house', 'isolated', 'unit', 'servers-alone', 'servers']

/**
 * What needs no server begins first, while the servers are fetched and started; in each project what takes minutes, so
 * that nothing is waited for alone at the end. In a campaign that comes last, and has what the others leave of the
 * hour.
 */
export default class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const times = readTimes()
    const secondsOf = ({ moduleId }: TestSpecification): number => times[relative(root, moduleId)] ?? 0
    const sorted = await super.sort(files)
    const isCampaign = files.some(({ project }) => project.name === 'campaign')
    if (isCampaign) return sorted.sort((one, other) => secondsOf(one) - secondsOf(other))
    const placeOf = ({ project }: TestSpecification): number => order.indexOf(project.name)
    return sorted.sort((one, other) => placeOf(one) - placeOf(other) || secondsOf(other) - secondsOf(one))
  }
}
