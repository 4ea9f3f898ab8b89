import { actionShapes } from './action.ts'
import { AdminError, exitCodes } from './error.ts'
import { counted } from './format.ts'
import { faultOfNote } from './notes.ts'
import { risksOf } from './plan.ts'
import { isRunName } from './run.ts'
import type { Plan } from './plan.ts'
import type { RunEvent, RunRecord } from './run.ts'
import {
  amount,
  anything,
  faultAt,
  flag,
  instant,
  isObject,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  optional,
  OtherForm,
  text,
} from './shape.ts'
import type { Fault, Shape } from './shape.ts'
import { command } from './shell-command.ts'
import type { Suggestion } from './shell-command.ts'

/** Where something was read: for people, and what to type to see it. */
export interface Place {
  where: string
  look: readonly Suggestion[]
}

const action: Shape = (value, at) => {
  if (!isObject(value)) return `${at} is not an object`
  const { kind } = value
  if (typeof kind !== 'string' || !Object.hasOwn(actionShapes, kind))
    return new OtherForm(`${at} has the unknown kind ${JSON.stringify(kind)}`)
  return objectOf({ kind: text, ...actionShapes[kind as keyof typeof actionShapes] })(value, at)
}

const plan = objectOf({
  repair: oneOf(...Object.keys(risksOf)),
  deployment: text,
  target: mapOf(text),
  impact: mapOf(amount),
  evidence: listOf(text),
  notes: listOf(text),
  risks: listOf(objectOf({ name: text, message: text, proof: listOf(text) })),
  steps: listOf(objectOf({ title: text, action, interrupts: flag, loses: optional(text) })),
  verifiedBy: listOf(text),
  options: mapOf(anything),
  expectedMs: optional(listOf((value, at) => (value === null ? null : amount(value, at)))),
})

const record = objectOf({
  schemaVersion: oneOf(1),
  run: (value, at) => (typeof value === 'string' && isRunName(value) ? null : `${at} is not the name of a run`),
  program: text,
  by: text,
  startedAt: instant,
  plan,
  acceptedRisks: listOf(text),
  workload: optional(objectOf({ kind: text, namespace: text, name: text, uid: optional(text) })),
})

const error = objectOf({ code: oneOf(...Object.keys(exitCodes), 'BUG'), message: text, suggestions: listOf(text) })

const events: { readonly [E in RunEvent['event']]: Readonly<Record<string, Shape>> } = {
  copied: {},
  intent: { step: amount },
  noted: { step: amount, note: text },
  done: { step: amount, durationMs: amount, already: optional(oneOf(true)) },
  failed: { step: amount, error },
  'undo-intent': { step: amount },
  undone: { step: amount },
  'undo-failed': { step: amount, error },
  redo: { step: amount, since: amount },
  ended: { outcome: oneOf('done', 'failed', 'refused', 'interrupted', 'undone'), verification: optional(mapOf(text)) },
}

/** Returns what is wrong with a plan that was read; null: nothing. */
export function faultOfPlan(value: unknown): Fault | null {
  return plan(value, 'plan')
}

/** Reads the head of a journal. Throws UNEXPECTED_ANSWER if it is damaged or a version with another format wrote it. */
export function parseRecord(value: unknown, run: string, place: Place): RunRecord {
  const fault = record(value, 'record')
  if (fault !== null) throw unreadable(run, place, programOf(value), fault)
  const read = value as RunRecord
  if (read.run !== run) throw unreadable(run, place, read.program, `it names another run, ${read.run}`)
  return read
}

/** Reads the events of a journal, in their order. Throws as `parseRecord`; `lineOf` names an event's place, from 0. */
export function parseEvents(
  values: readonly unknown[],
  of: RunRecord,
  place: Place,
  lineOf: (index: number) => string,
): RunEvent[] {
  const order = inOrder(of.plan)
  return values.map((value, index) => {
    const fault = faultOfEvent(value) ?? order(value as RunEvent)
    if (fault !== null) throw unreadable(of.run, place, of.program, faultAt(lineOf(index), fault))
    return value as RunEvent
  })
}

function faultOfEvent(value: unknown): Fault | null {
  const name = isObject(value) ? value['event'] : undefined
  if (typeof name !== 'string') return 'it contains no event'
  if (!Object.hasOwn(events, name)) return new OtherForm(`unknown event ${name}`)
  return objectOf({ at: instant, by: text, event: text, ...events[name as RunEvent['event']] })(value, 'event')
}

/** Returns a test for events out of place: an outcome without its intent, or a step that the plan does not have. */
function inOrder({ steps }: Plan): (event: RunEvent) => Fault | null {
  let begun: number | null = null
  let undoing: number | null = null
  const touched = new Set<number>()
  let place = -1
  return (event) => {
    place += 1
    if ('step' in event && !(Number.isInteger(event.step) && event.step < steps.length))
      return `an event names step ${event.step + 1}, but the plan has only ${counted(steps.length, 'step')}`
    switch (event.event) {
      case 'intent':
        begun = event.step
        undoing = null
        touched.add(event.step)
        return null
      case 'undo-intent':
        undoing = event.step
        return null
      case 'done': {
        const isBegun = begun === event.step || event.already === true
        begun = null
        return isBegun ? null : `step ${event.step + 1} is recorded as done, but without a matching start`
      }
      case 'noted': {
        if (!touched.has(event.step)) return `step ${event.step + 1} has saved details, but is not recorded as started`
        const fault = faultOfNote(steps[event.step]!.action, event.note)
        return fault === null ? null : faultAt(`step ${event.step + 1}`, fault)
      }
      case 'failed':
        return begun === event.step
          ? null
          : `step ${event.step + 1} is recorded as failed, but without a matching start`
      case 'undone':
      case 'undo-failed': {
        const isBegun = undoing === event.step
        undoing = null
        if (begun === event.step) begun = null
        return isBegun
          ? null
          : `the undo of step ${event.step + 1} is recorded as ${event.event === 'undone' ? 'done' : 'failed'}, but ` +
              'without a matching start'
      }
      case 'redo':
        return Number.isInteger(event.since) && event.since <= place
          ? null
          : `event ${place + 1} must refer to an earlier event, but refers to event ${event.since + 1}`
      case 'copied':
      case 'ended':
        return null
    }
  }
}

function programOf(value: unknown): string | null {
  return isObject(value) && typeof value['program'] === 'string' ? value['program'] : null
}

function unreadable(run: string, { where, look }: Place, program: string | null, fault: Fault): AdminError {
  const isOther = fault instanceof OtherForm
  const by = program === null ? '' : ` (begun with testops-admin ${program})`
  const what = isOther ? 'has a format that this version of testops-admin cannot read' : 'is damaged'
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `the saved record of run ${run} in ${where}${by} ${what}: ${fault.toString()}`,
    [
      ...look,
      ...(isOther && program !== null
        ? [
            command`testops-admin --version   # shows the version of this program; resume the run with ${program},
              or with the newest version that has resumed it since`,
          ]
        : []),
    ],
  )
}
