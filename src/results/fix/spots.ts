import type { ResultContent } from '../result-file.ts'
import { attachmentsOf } from '../rules/attachments-of.ts'
import { shapeFaults } from '../rules/bad-shape.ts'
import { longField } from '../rules/long-field.ts'
import { isSecretParameter } from '../rules/said.ts'

/** A way to a value in JSON, from the root. */
export type Path = readonly (string | number)[]

/** A text and where it stands: `labels[3].value`. */
export interface Spot {
  place: string
  text: string
}

export interface LongText extends Spot {
  /** whether it may be cut without that a result is matched to another test, or a link leads elsewhere */
  mayBeCut: boolean
  /** whether its value must not be shown */
  isSecret: boolean
}

const identifiers = new Set(['as_id', 'allure_id', 'vendor_id'])

/**
 * The `source` of every attachment in a result, a container or the globals of a run, with that of their steps and
 * fixtures.
 */
export function sourcesOf(value: unknown): Spot[] {
  return attachmentsOf(value).map(({ place, source }) => ({ place, text: source }))
}

/** The texts of a result that are longer than the service keeps; of what is none, none. */
export function longTextsOf(value: object): LongText[] {
  if (shapeFaults(value).length > 0) return []
  const content = value as ResultContent
  const found = longField.judge({ directory: '', file: '', bytes: 0, content }, new Set())
  return found.flatMap(({ place = '' }) => {
    const [list, index, field] = pathOf(place)
    const text = pathOf(place).reduce<unknown>((from, key) => (from as Record<string | number, unknown>)[key], value)
    if (typeof text !== 'string') return []
    const label = list === 'labels' ? content.labels?.[Number(index)]?.name : null
    const parameter = list === 'parameters' ? content.parameters?.[Number(index)] : null
    const mayBeCut =
      place === 'name' ||
      (list === 'links' && field === 'name') ||
      (list === 'labels' && field === 'value' && !identifiers.has(label?.toLowerCase() ?? ''))
    return [{ place, text, mayBeCut, isSecret: field === 'value' && parameter != null && isSecretParameter(parameter) }]
  })
}

export function pathOf(place: string): Path {
  return (place.match(/[^.[\]]+/g) ?? []).map((key) => (/^\d+$/.test(key) ? Number(key) : key))
}
