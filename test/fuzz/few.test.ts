import { expect, test } from 'vitest'
import { readers } from './readers/index.ts'
import { fuzz } from './run.ts'

const few = 40

// `npm run campaign` gives each hundreds of times as many, by chance
test.each(readers)(
  '$name takes or refuses what comes, and falls over nothing',
  { timeout: 180_000 },
  async (reader) => {
    const { inputs, falls, outcomes } = await fuzz(reader, { seed: 'the same ones each time', count: few })
    expect(falls).toEqual([])
    expect(inputs).toBe(few)
    // a reader that nothing gets through tells nothing
    expect(outcomes['taken']).toBeGreaterThan(0)
  },
)
