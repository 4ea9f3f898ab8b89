import { within, quoted } from './said.ts'
import type { Found } from '../problem.ts'
import type { FileRule } from '../rule.ts'

/** An attachment that a result, a container or the globals name; `source` is as written there. */
export interface NamedAttachment {
  /** `steps[0].attachments[1].source` */
  place: string
  source: string
}

const none: readonly NamedAttachment[] = []

/** Keys of parts that hold further parts, the last one first: a stack returns them in order. */
const inner = ['afters', 'befores', 'steps'] as const
const steps = ['steps'] as const

/** The fields that are read of a value; a value of another shape holds no attachment. */
type Holder = Readonly<Partial<Record<'attachments' | 'steps' | 'befores' | 'afters', unknown>>>

/**
 * Lists the attachments of a result, a container (in its fixtures) or the globals, in the order of the file. Includes
 * those of steps at any depth. The value may have any shape.
 */
export function attachmentsOf(content: unknown): readonly NamedAttachment[] {
  return hasAttachments(content) ? withPlaces(content) : none
}

/** True if there is any attachment. Runs for every file, so it allocates only a list of steps that have steps. */
function hasAttachments(content: unknown): boolean {
  if (!isHolder(content)) return false
  if (isFilled(content.attachments)) return true
  let pending: (readonly unknown[])[] | null = null
  for (const key of inner) {
    for (let items = content[key]; isFilled(items); items = pending?.pop()) {
      for (let at = 0; at < items.length; at += 1) {
        const item = items[at]
        if (!isHolder(item)) continue
        if (isFilled(item.attachments)) return true
        if (isFilled(item.steps)) (pending ??= []).push(item.steps)
      }
    }
  }
  return false
}

interface Open {
  holder: unknown
  place: string
}

function withPlaces(content: unknown): NamedAttachment[] {
  const found: NamedAttachment[] = []
  const pending: Open[] = [{ holder: content, place: '' }]
  for (let open = pending.pop(); open !== undefined; open = pending.pop()) {
    const { holder, place } = open
    if (!isHolder(holder)) continue
    const { attachments } = holder
    if (isFilled(attachments)) {
      for (let at = 0; at < attachments.length; at += 1) {
        const source = isHolder(attachments[at]) ? (attachments[at] as { source?: unknown }).source : null
        if (typeof source === 'string') found.push({ place: `${place}attachments[${at}].source`, source })
      }
    }
    for (const key of holder === content ? inner : steps) {
      const items = holder[key]
      if (isFilled(items))
        for (let at = items.length - 1; at >= 0; at -= 1)
          pending.push({ holder: items[at], place: within(place, `${key}[${at}]`) })
    }
  }
  return found
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null
}

function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0
}

export const nestedAttachment: FileRule = {
  id: 'nested-attachment',
  judge({ content }) {
    const attachments = attachmentsOf(content)
    return attachments.length === 0 ? [] : attachments.filter(({ source }) => isNested(source)).map(nestedSource)
  },
}

/** True for a path with either kind of slash; SPEC.md 2 allows none. */
function isNested(source: string): boolean {
  return source.includes('/') || source.includes('\\')
}

function nestedSource({ place, source }: { place: string; source: string }): Found {
  return { message: `the attachment ${quoted(source, 120)} ${whereOf(source)}`, place }
}

function whereOf(source: string): string {
  if (isAbsolute(source)) return 'is given as an absolute path'
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(source)) return 'is given as a URL, not as a file name'
  if (/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(source)) return 'refers to a file outside the results directory'
  return /^(?:\.[\\/]+)+[^\\/]*$/.test(source)
    ? 'is given as a path, not as a file name'
    : 'refers to a file in a subdirectory'
}

function isAbsolute(path: string): boolean {
  return /^(?:[\\/]|[a-z]:[\\/]|file:)/i.test(path)
}

/** Returns the finding for a file below a subdirectory. `path` starts at the root. */
export function nestedFile(path: string): Found {
  return { message: `the attachment ${quoted(path, 120)} is in a subdirectory` }
}

/** Returns the finding for an attachment that lies in no subdirectory either (`nestedFile`). */
export function missingAttachment({ place, source }: NamedAttachment): Found {
  if (source === '') return { message: 'an attachment has no file name', place }
  return { message: `the attachment ${quoted(source, 120)} is not in the results directory`, place }
}

/** Returns the finding for a file in the results directory's root that no result, container or known file names. */
export function orphanAttachment(name: string): Found {
  return /-result\.json/i.test(name)
    ? { message: `no result refers to this file. If it is a result file, its name must end in \`-result.json\`` }
    : { message: 'no result refers to this file' }
}
