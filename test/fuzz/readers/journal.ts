import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runFolder } from '../../../src/adapters/run-folder.ts'
import { isRunName } from '../../../src/core/run.ts'
import type { RunHistory, RunRecord } from '../../../src/core/run.ts'
import { parseEvents, parseRecord } from '../../../src/core/run-record.ts'
import { isUnfinished, progressOf, runState } from '../../../src/core/run-state.ts'
import { misfitsOf } from '../../../src/domain/foreign-run/index.ts'
import { readOnly } from '../../../src/cli/repair/compare-record.ts'
import { accountOf, shortfallOf } from '../../../src/engine/verify.ts'
import { differingFrom } from '../../../src/engine/compare.ts'
import { redone } from '../../../src/engine/compare.ts'
import { losesAll, stepsToUndo } from '../../../src/engine/undo.ts'
import { historyText } from '../../../src/output/history.ts'
import { planText } from '../../../src/output/plan.ts'
import { recordText } from '../../../src/output/record.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { fakeDeployment, openFakes } from '../../fakes/index.ts'
import { runOf } from '../../engine/repairing.ts'
import { shown, shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'
import { recordSeeds } from './records.ts'
import { refusable } from './refusable.ts'

const place = { where: 'the deployment', look: ['testops-admin history'] }

/**
 * A journal: a record and a line an event, as a folder of this machine has it and as a queue of the deployment brings
 * it.
 */
export const journal: Reader = {
  name: 'journal',
  syntax: 'json',
  seeds: recordSeeds,
  async open(folder) {
    const comparison = {
      deployment: {
        name: 'prod',
        platform: 'host',
        vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
        timeZone: 'UTC',
      },
      open: openFakes(),
    } as const
    const store = runFolder(folder)
    let count = 0
    return {
      async read(input) {
        const text = input.toString('utf8')
        const name =
          /"run":"(\d{8}T\d{6}Z-[a-z-]+-[\da-f]{4})"/.exec(text)?.[1] ?? '20261121T021244Z-unlock-changelog-1f3a'
        count += 1
        const history = count % 8 === 0 ? await fromFolder(text, name) : inMemory(text, name)
        await look(history)
      },
    }

    async function fromFolder(text: string, name: string): Promise<RunHistory> {
      const [head = '', ...lines] = text.split('\n')
      // no folder can have a name that is much longer than that of a run
      if (isRunName(name)) {
        await mkdir(join(folder, name), { recursive: true })
        await writeFile(join(folder, name, 'run.json'), head)
        await writeFile(join(folder, name, 'journal.jsonl'), lines.join('\n'))
      }
      return store.read(name)
    }

    function inMemory(text: string, name: string): RunHistory {
      const values = text.split('\n').filter(Boolean).map(valueOf)
      const record = parseRecord(values[0], name, place)
      return { record, events: parseEvents(values.slice(1), record, place, (index) => `message ${index + 2}`) }
    }

    async function look(history: RunHistory): Promise<void> {
      const { record, events } = history
      progressOf(events)
      isUnfinished(history)
      stepsToUndo(record.plan, events)
      losesAll(history)
      accountOf(record.plan, events)
      shortfallOf(record.plan, events)
      await refusable(async () => shownAsJson(await compared(history, count)))
      const { unfit, untold } = await misfitsOf(history, comparison)
      shownAsJson({ unfit, untold })
      const state = runState(history)
      shown(
        historyText(
          {
            schemaVersion: 1,
            deployment: 'prod',
            runs: [
              { ...state, where: 'deployment' },
              { ...state, where: 'here', misfit: unfit.join('; ') },
            ],
            unreadable: [{ run: record.run, reason: unfit.join('; ') }],
          },
          plainScreen,
        ),
      )
      shown(recordText(history, plainScreen))
      shown(planText(record.plan, plainScreen))
      shownAsJson(record satisfies RunRecord)
    }
  },
}

/** What the deployment shows of it, where its last events are of others, or all of them. */
async function compared(history: RunHistory, count: number): Promise<unknown> {
  const foreign = {
    events: count % 4 === 0 ? history.events.length : Math.floor(history.events.length / 2),
    isAdopted: count % 4 === 0,
  }
  const performance = { ...runOf(fakeDeployment(), history, readOnly), foreign }
  const { differing, repeated } = await differingFrom(performance)
  const redo = redone(
    { ...history, by: performance.by, foreign },
    new Set([...differing.flatMap(({ step }) => step ?? []), ...repeated]),
  )
  const all = [...history.events, ...redo]
  progressOf(parseEvents(all, history.record, place, (index) => `message ${index + 2}`))
  return differing
}

/** What is no JSON is no value, as for the store of the deployment. */
function valueOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
