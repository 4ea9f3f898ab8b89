import { expect, test } from 'vitest'
import { renderedObjects, takenFile, takenText, writeHostile } from '../contracts/rendered-objects.ts'
import { freshPlace } from '../end-to-end/program.ts'
import { startOracle } from '../kubernetes/oracle/index.ts'

test("Kubernetes' own code takes every object that is rendered, with no field that it does not know", async () => {
  const place = await freshPlace()
  const oracle = await startOracle()
  try {
    await writeHostile(place)
    const objects = await renderedObjects(place)
    expect(objects.length).toBeGreaterThan(8)
    for (const object of objects) expect([object, await oracle.refusal(object)]).toEqual([object, null])
    const misspelt = { apiVersion: 'batch/v1', kind: 'CronJob', spec: { shedule: '' } }
    expect(await oracle.refusal(misspelt)).toContain('shedule')
    await expect(takenText(objects)).toMatchFileSnapshot(takenFile)
  } finally {
    await oracle.close()
    await place.remove()
  }
}, 900_000)
