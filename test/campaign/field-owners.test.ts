import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startOracle } from '../kubernetes/oracle/index.ts'
import type { Oracle } from '../kubernetes/oracle/index.ts'
import { playedHere } from '../kubernetes/oracle/played.ts'
import { recordingFile, recordingOf } from '../kubernetes/oracle/record.ts'
import { sequenceFrom } from '../kubernetes/oracle/writes.ts'
import { seed } from './seed.ts'

let oracle: Oracle
beforeAll(async () => {
  oracle = await startOracle()
}, 900_000)
afterAll(async () => oracle.close())

const sequences = 2000
const atOnce = 50

describe("the tests' API server does with objects, their owners and conflicts what Kubernetes' own code does", () => {
  test.each(Array.from({ length: sequences / atOnce }, (_, index) => index * atOnce))(
    '%d and those that follow',
    async (first) => {
      for (const number of Array.from({ length: atOnce }, (_, index) => first + index)) {
        const sequence = sequenceFrom(`${seed} ${number}`)
        const [here, there] = [await playedHere(sequence), await oracle.play(sequence)]
        const at = here.findIndex((it, index) => JSON.stringify(it) !== JSON.stringify(there[index]))
        expect(at < 0 ? null : { number, write: sequence.writes[at], played: here[at] }).toEqual(
          at < 0 ? null : { number, write: sequence.writes[at], played: there[at] },
        )
      }
    },
    300_000,
  )
})

test("what is on record of Kubernetes' own code is what it does", async () => {
  await expect(await recordingOf(oracle)).toMatchFileSnapshot(recordingFile)
}, 120_000)
