import type { Found } from '../problem.ts'
import { quoted, within } from './said.ts'

/** Maximum findings of a file that are reported. */
const most = 5

const none: readonly Found[] = []

/** The type of a field, or of each item of a list (FIELD-NOTES.md 6). */
type Kind =
  | 'text'
  | 'number'
  | 'flag'
  | 'texts'
  | 'attachments'
  | 'parameters'
  | 'labels'
  | 'links'
  | 'steps'
  | 'details'

type Fields = Readonly<Record<string, Kind>>

const step: Fields = {
  name: 'text',
  status: 'text',
  statusDetails: 'details',
  stage: 'text',
  description: 'text',
  descriptionHtml: 'text',
  steps: 'steps',
  attachments: 'attachments',
  parameters: 'parameters',
  start: 'number',
  stop: 'number',
}
const result: Fields = {
  ...step,
  uuid: 'text',
  historyId: 'text',
  testCaseId: 'text',
  fullName: 'text',
  titlePath: 'texts',
  labels: 'labels',
  links: 'links',
}

/** Fields of these objects, with their types; any other field may hold anything. */
const objects = {
  details: { message: 'text', trace: 'text', known: 'flag', muted: 'flag', flaky: 'flag' },
  attachments: { name: 'text', source: 'text', type: 'text' },
  parameters: { name: 'text', value: 'text', excluded: 'flag', mode: 'text' },
  labels: { name: 'text', value: 'text' },
  links: { name: 'text', url: 'text', type: 'text' },
  steps: step,
} as const satisfies Readonly<Record<string, Fields>>

/** Returns what keeps a value from being a result. Null counts as absent, and unknown fields may hold anything. */
export function shapeFaults(value: unknown): readonly Found[] {
  if (isResult(value)) return none
  if (!isObject(value)) return [{ message: `the file contains ${told(value)}, but a result must be an object` }]
  if (Object.keys(value).length === 0) return [{ message: 'the file contains an object without fields' }]
  return faultsOf(value)
}

interface Open {
  object: Readonly<Record<string, unknown>>
  fields: Fields
  place: string
}

function faultsOf(value: Readonly<Record<string, unknown>>): Found[] {
  const found: Found[] = []
  const pending: Open[] = [{ object: value, fields: result, place: '' }]
  const add = (place: string, it: unknown, wanted: string): void => {
    if (found.length < most) found.push({ message: `\`${place}\` is ${told(it)}, but must be ${wanted}`, place })
  }
  for (let open = pending.pop(); open !== undefined && found.length < most; open = pending.pop()) {
    const { object, place } = open
    const inner: Open[] = []
    const take = (it: unknown, part: string, fields: Fields): void => {
      if (isObject(it)) inner.push({ object: it, fields, place: within(place, part) })
      else if (it != null) add(`${place}${part}`, it, 'an object')
    }
    for (const [key, kind] of Object.entries(open.fields)) {
      const it = object[key]
      if (it == null) continue
      if (kind === 'text' || kind === 'number' || kind === 'flag') {
        if (typeof it !== typeNames[kind]) add(`${place}${key}`, it, words[kind])
      } else if (kind === 'details') take(it, key, objects.details)
      else if (!Array.isArray(it))
        add(`${place}${key}`, it, kind === 'texts' ? 'a list of strings' : 'a list of objects')
      else if (kind === 'texts')
        it.forEach(
          (text, at) => text == null || typeof text === 'string' || add(`${place}${key}[${at}]`, text, 'a string'),
        )
      else it.forEach((item, at) => take(item, `${key}[${at}]`, objects[kind]))
    }
    // pushes the last one first, so that the stack returns them in order
    while (inner.length > 0) pending.push(inner.pop()!)
  }
  return found
}

const typeNames = { text: 'string', number: 'number', flag: 'boolean' } as const
const words = { text: 'a string', number: 'a number', flag: 'true or false' } as const

/** Describes a value, without its content if that may be long or secret. */
function told(value: unknown): string {
  if (typeof value === 'string')
    return /^[\w:.+ -]{0,20}$/.test(value) && !/[a-z\d]{12}/i.test(value) ? `the string ${quoted(value)}` : 'a string'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'number') return `the number ${value}`
  if (typeof value === 'boolean') return String(value)
  return value === null ? 'null' : 'an object'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True if the value has the shape of a result. Names each field in code, so a correct file is quickly checked. */
function isResult(value: unknown): boolean {
  if (!isObject(value)) return false
  const { uuid, historyId, testCaseId, fullName, titlePath, labels, links } = value
  if (!isText(uuid) || !isText(historyId) || !isText(testCaseId) || !isText(fullName)) return false
  if (titlePath != null && !(Array.isArray(titlePath) && titlePath.every(isText))) return false
  if (!areLabels(labels) || !areLinks(links) || !isStep(value)) return false
  if (!isFilled(value.steps)) return Object.keys(value).length > 0
  const pending: (readonly unknown[])[] = [value.steps]
  for (let items = pending.pop(); items !== undefined; items = pending.pop()) {
    for (let at = 0; at < items.length; at += 1) {
      const it = items[at]
      if (it == null) continue
      if (!isObject(it) || !isStep(it)) return false
      if (isFilled(it.steps)) pending.push(it.steps)
    }
  }
  return true
}

/** True if a step's fields have the right types; of its own steps, checks only that they are a list. */
function isStep({
  name,
  status,
  statusDetails,
  stage,
  description,
  descriptionHtml,
  steps,
  attachments,
  parameters,
  start,
  stop,
}: Readonly<Record<string, unknown>>): boolean {
  return (
    isText(name) &&
    isText(status) &&
    isText(stage) &&
    isText(description) &&
    isText(descriptionHtml) &&
    isNumber(start) &&
    isNumber(stop) &&
    (steps == null || Array.isArray(steps)) &&
    areAttachments(attachments) &&
    areParameters(parameters) &&
    areDetails(statusDetails)
  )
}

function areLabels(value: unknown): boolean {
  if (value == null) return true
  if (!Array.isArray(value)) return false
  for (const it of value as unknown[])
    if (it != null && !(isObject(it) && isText(it.name) && isText(it.value))) return false
  return true
}

function areLinks(value: unknown): boolean {
  if (value == null) return true
  if (!Array.isArray(value)) return false
  for (const it of value as unknown[])
    if (it != null && !(isObject(it) && isText(it.name) && isText(it.url) && isText(it.type))) return false
  return true
}

function areAttachments(value: unknown): boolean {
  if (value == null) return true
  if (!Array.isArray(value)) return false
  for (const it of value as unknown[])
    if (it != null && !(isObject(it) && isText(it.name) && isText(it.source) && isText(it.type))) return false
  return true
}

function areParameters(value: unknown): boolean {
  if (value == null) return true
  if (!Array.isArray(value)) return false
  for (const it of value as unknown[])
    if (it != null && !(isObject(it) && isText(it.name) && isText(it.value) && isFlag(it.excluded) && isText(it.mode)))
      return false
  return true
}

function areDetails(value: unknown): boolean {
  return (
    value == null ||
    (isObject(value) &&
      isText(value.message) &&
      isText(value.trace) &&
      isFlag(value.known) &&
      isFlag(value.muted) &&
      isFlag(value.flaky))
  )
}

function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || value == null
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value == null
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean' || value == null
}
