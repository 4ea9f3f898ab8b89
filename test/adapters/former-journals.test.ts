import { chmod, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { accountsOf } from '../../src/actions/queues/account.ts'
import { runFolder } from '../../src/adapters/run-folder.ts'
import type { RunEvent, RunHistory } from '../../src/core/run.ts'
import { progressOf, runState } from '../../src/core/run-state.ts'

/**
 * Two runs of `reset-queues` as the version wrote them that noted no `transient` and had no lock in the broker: killed
 * on a real broker, one after its queues were declared again, one as its undo was about to start the service. Hosts,
 * paths and users are renamed.
 */
const killed = '20261124T172806Z-reset-queues-cb77'
const goingBack = '20261124T172810Z-reset-queues-9ae2'

async function copied(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-former-'))
  onTestFinished(async () => rm(folder, { recursive: true }))
  await cp(join(import.meta.dirname, '..', 'fixtures', 'journals', 'reset-queues'), folder, { recursive: true })
  for (const run of [killed, goingBack]) await chmod(join(folder, run), 0o700)
  return folder
}

async function historyOf(folder: string, run: string): Promise<RunHistory> {
  const read = await runFolder(folder).read(run)
  if (!read) throw new Error(`${run} is not there`)
  return read
}

/** In their order, as handlers are given them. */
const notesOf = ({ events }: RunHistory): string[] => events.flatMap((it) => (it.event === 'noted' ? [it.note] : []))

test('what a former version has left half done is listed', async () => {
  const all = await runFolder(await copied()).list()
  expect(all.map((it) => 'record' in it && runState(it))).toEqual([
    {
      run: killed,
      repair: 'reset-queues',
      by: 'op@bastion',
      startedAt: '2026-11-24T17:28:06.114Z',
      state: 'unfinished',
      done: 7,
      steps: 11,
      within: expect.stringMatching(/^declare those queues anew as durable/) as string,
    },
    {
      run: goingBack,
      repair: 'reset-queues',
      by: 'op@bastion',
      startedAt: '2026-11-24T17:28:10.822Z',
      state: 'unfinished',
      done: 3,
      steps: 11,
      within: null,
    },
  ])
})

test('its run is resumed where it stopped, and its undo as an undo', async () => {
  const folder = await copied()
  const [first, second] = [await historyOf(folder, killed), await historyOf(folder, goingBack)]
  expect(progressOf(first.events)).toMatchObject({ begun: 7, isGoingBack: false, isCopied: true })
  expect(progressOf(second.events)).toMatchObject({ isGoingBack: true, isCopied: true })
  const [aside, back] = [accountsOf(notesOf(first)), accountsOf(notesOf(second))]
  expect(['upload', 'export', 'upload_dlq'].map(aside.lastOf)).toEqual([
    { direction: 'aside' },
    { direction: 'aside' },
    null,
  ])
  expect(
    ['upload', 'export'].map((queue) => ({
      way: back.lastOf(queue)?.direction,
      told: back.toldOf(queue),
      transient: back.transientIn(queue),
    })),
  ).toEqual(Array(2).fill({ way: 'back', told: null, transient: null }))
})

test('what this version adds to such a run is read again', async () => {
  const folder = await copied()
  const at = { at: '2026-11-25T02:00:00.000Z', by: 'op@bastion' }
  const more: RunEvent[] = [
    {
      ...at,
      event: 'noted',
      step: 5,
      note: JSON.stringify({ event: 'compared', queues: ['upload'], differing: {}, transient: { upload: 3 } }),
    },
    {
      ...at,
      event: 'noted',
      step: 1,
      note: JSON.stringify({
        event: 'compared',
        queues: ['upload'],
        differing: { upload: 'queue upload: 3 messages had come back, and it is gone with them' },
      }),
    },
  ]
  const log = await runFolder(folder).reopen(goingBack)
  await log.append(...more)
  await log.close()
  expect((await historyOf(folder, goingBack)).events.slice(-2)).toEqual(more)
})
