import { within } from './said.ts'

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
