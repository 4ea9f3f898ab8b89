import { expect, test } from 'vitest'
import { playedHere } from './oracle/played.ts'
import { recordedSequences } from './oracle/record.ts'

const all = recordedSequences().map((it, index) => ({ ...it, index }))

/** The campaign compares far more with Kubernetes' own code itself. */
test.each(all)("writes $index are answered as by Kubernetes' own code", async ({ sequence, played }) => {
  expect(await playedHere(sequence)).toEqual(played)
})
