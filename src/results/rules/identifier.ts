import type { NamedValue, ResultContent } from '../result-file.ts'
import type { FileRule } from '../rule.ts'
import { isBlank, listed, quoted } from './said.ts'
import type { Found } from '../problem.ts'

/**
 * Names of the label in lower case, by SPEC.md 2 and by the adapters of each language. Those differ in upper and lower
 * case (FIELD-NOTES.md 6).
 */
const identifierNames: ReadonlySet<string> = new Set(['as_id', 'allure_id', 'vendor_id'])

interface IdentifierLabel {
  /** its index among the labels */
  at: number
  name: string
  value: string
  /** true if the service can have assigned it */
  isValid: boolean
}

const none: readonly IdentifierLabel[] = []

/** Lists the labels that hold an identifier. A label without a value counts as absent. */
function identifierLabels({ labels }: ResultContent): readonly IdentifierLabel[] {
  if (!labels) return none
  let found: IdentifierLabel[] | null = null
  for (let at = 0; at < labels.length; at += 1) {
    const label = labels[at]
    if (label == null || !isIdentifier(label) || label.value == null) continue
    const { name, value } = label as { name: string; value: string }
    found ??= []
    found.push({ at, name, value, isValid: isAssignable(value) })
  }
  return found ?? none
}

/** Returns a result's one valid identifier, without leading zeros; null if it has none, or several. */
export function identifierOf(content: ResultContent): string | null {
  const ids = distinctIdentifiers(identifierLabels(content))
  return ids.length === 1 ? ids[0]! : null
}

function distinctIdentifiers(labels: readonly IdentifierLabel[]): string[] {
  return [...new Set(labels.filter(({ isValid }) => isValid).map(({ value }) => withoutZeros(value)))]
}

function isIdentifier({ name }: NamedValue): boolean {
  // the length alone rules out most labels
  return name != null && (name.length === 5 || name.length === 9) && identifierNames.has(name.toLowerCase())
}

const greatest = '9223372036854775807'

/** True for a positive number that a Java `long` holds: SPEC.md 2 calls the ID of a test case an integer. */
function isAssignable(value: string): boolean {
  if (!/^[0-9]+$/.test(value)) return false
  const digits = withoutZeros(value)
  return digits !== '' && (digits.length < greatest.length || (digits.length === greatest.length && digits <= greatest))
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+/, '')
}

/** An invalid identifier is reported by its own rule (`invented-identifier`). */
export const noIdentifier: FileRule = {
  id: 'no-identifier',
  judge({ content }) {
    if (!isBlank(content.fullName) || identifierLabels(content).length > 0) return []
    return [
      {
        message: `the result has no identifier label and ${content.fullName ? 'a blank' : 'no'} full name`,
      },
    ]
  },
}

export const inventedIdentifier: FileRule = {
  id: 'invented-identifier',
  judge({ content }) {
    const labels = identifierLabels(content)
    if (labels.length === 0) return []
    const invalid = labels.filter(({ isValid }) => !isValid)
    return invalid.length > 0 ? invalid.map(inventedOne) : differing(labels)
  },
}

function inventedOne({ at, name, value }: IdentifierLabel): Found {
  const why = value.trim() === '' ? 'is empty' : `is ${quoted(value)}`
  const spaces = value !== value.trim() && value.trim() !== '' ? ', with whitespace around it' : ''
  return {
    message: `the label ${name} ${why}${spaces}, but IDs that the service assigns are positive whole numbers`,
    place: `labels[${at}].value`,
  }
}

function differing(labels: readonly IdentifierLabel[]): readonly Found[] {
  const ids = distinctIdentifiers(labels)
  if (ids.length < 2) return []
  const told = labels.map(({ name, value }) => `${name} ${value}`)
  return [
    {
      message: `the result has ${ids.length} different identifiers: ${listed(told, 5)}`,
      place: `labels[${labels.at(-1)!.at}].value`,
    },
  ]
}
