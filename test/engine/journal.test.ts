import { expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { beginJournal } from '../../src/engine/journal.ts'
import { fakeRunStore } from '../fakes/index.ts'
import { eventOf, machine, passing, recordOf, run, told } from './repairing.ts'

const options = { by: 'op@bastion', failpoint: async (): Promise<void> => undefined }
const away = new AdminError('UNREACHABLE', 'RabbitMQ at mq.example.org:5672 refused the connection')

test('a journal is kept in both places, the record first, and says that it is', async () => {
  const journals = machine()
  const journal = await beginJournal(journals, recordOf(), options)
  await journal.append(eventOf({ event: 'intent', step: 0 }))
  expect(journal.onlyHere).toBeNull()
  expect(told(await journals.here.read(run))).toEqual(['copied', 'intent 0'])
  expect(await journals.deployment.read(run)).toEqual(await journals.here.read(run))
  expect(journal.written.map(({ event }) => event)).toEqual(['copied', 'intent'])
})

test('a machine that cannot keep a journal begins nothing anywhere', async () => {
  const journals = machine()
  journals.here.failing = new AdminError('UNAVAILABLE', 'the record of this run cannot be saved: ENOSPC')
  await expect(beginJournal(journals, recordOf(), options)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(journals.deployment.writes).toBe(0)
})

test('a deployment that keeps none is no hindrance, and is named', async () => {
  const here = fakeRunStore()
  const journals = {
    here,
    there: async () => Promise.reject(new AdminError('NOT_CONFIGURED', 'no broker is configured')),
  }
  const journal = await beginJournal(journals, recordOf(), options)
  await journal.append(eventOf({ event: 'intent', step: 0 }))
  expect(journal.onlyHere).toBe('no broker is configured')
  expect(told(await here.read(run))).toEqual(['intent 0'])
  await journal.close(true)
})

test('a copy that falls behind is completed in order once the broker is back', async () => {
  const journals = machine()
  const journal = await beginJournal(journals, recordOf(), options)
  journals.deployment.failing = away
  await journal.append(eventOf({ event: 'intent', step: 0 }))
  await journal.append(eventOf({ event: 'done', step: 0, durationMs: 1 }))
  expect(journal.onlyHere).toBe(away.message)
  expect(told(await journals.deployment.read(run))).toEqual(['copied'])
  journals.deployment.failing = null
  await journal.append(eventOf({ event: 'intent', step: 1 }))
  expect(journal.onlyHere).toBeNull()
  expect(told(await journals.deployment.read(run))).toEqual(['copied', 'intent 0', 'done 0', 'intent 1'])
})

test('a copy that falls behind is completed at the end', async () => {
  const journals = machine()
  const journal = await beginJournal(journals, recordOf(), options)
  journals.deployment.failing = away
  await journal.append(eventOf({ event: 'intent', step: 0 }))
  journals.deployment.failing = null
  await journal.close(false)
  expect(told(await journals.deployment.read(run))).toEqual(['copied', 'intent 0'])
})

test('a broker that comes up later gets its copy', async () => {
  const journals = machine()
  journals.deployment.failing = away
  const journal = await beginJournal(journals, recordOf(), options)
  expect(told(await journals.here.read(run))).toEqual([])
  journals.deployment.failing = null
  await journal.append(eventOf({ event: 'intent', step: 0 }))
  expect(await journals.deployment.read(run)).toEqual(await journals.here.read(run))
  expect(told(await journals.here.read(run))).toEqual(['intent 0', 'copied'])
})

test('an event that the broker took without saying so is not told twice', async () => {
  const journals = machine()
  const journal = await beginJournal(journals, recordOf(), options)
  const taken = eventOf({ event: 'intent', step: 0 })
  journals.deployment.kept.get(run)!.push(taken)
  journals.deployment.failing = away
  await journal.append(taken)
  journals.deployment.failing = null
  await journal.append(eventOf({ event: 'done', step: 0, durationMs: 1 }))
  expect(told(await journals.deployment.read(run))).toEqual(['copied', 'intent 0', 'done 0'])
})

test('a copy that somebody else writes to is left alone, and stops the run', async () => {
  const journals = machine()
  const journal = await beginJournal(journals, recordOf(), options)
  journals.deployment.failing = away
  await journal.append(eventOf({ event: 'intent', step: 0 }))
  journals.deployment.failing = null
  journals.deployment.kept.get(run)!.push(eventOf({ event: 'intent', step: 1 }, 9))
  const apart = new RegExp(
    '^the record of run .* on this machine and the copy in the deployment begin to differ at event 2: ' +
      'this machine has intent of step 1 at .*, and the deployment has intent of step 2 at',
  )
  await expect(journal.append(eventOf({ event: 'done', step: 0, durationMs: 1 }))).rejects.toMatchObject({
    code: 'REFUSED',
    message: expect.stringMatching(apart) as string,
  })
  await journal.close(false)
  expect(journal.onlyHere).toMatch(apart)
  expect(told(await journals.deployment.read(run))).toEqual(['copied', 'intent 1'])
  expect(told(await journals.here.read(run))).toEqual(['copied', 'intent 0', 'done 0'])
})

test('the copy of what is over is taken away, and one that cannot be is left without a failure', async () => {
  const journals = machine()
  const journal = await beginJournal(journals, recordOf(), options)
  journals.deployment.failing = away
  await journal.close(true)
  expect(journals.deployment.kept.has(run)).toBe(true)
  journals.deployment.failing = null
  await journal.close(true)
  expect(journals.deployment.kept.has(run)).toBe(false)
})

test('each instant between the two places has a name', async () => {
  const { reached, failpoint } = passing()
  await beginJournal(machine(), recordOf(), { by: 'op@bastion', failpoint })
  expect(reached).toEqual(['begin:recorded', 'begin:copied', 'journal:here'])
})
