import type { NamedValue, ResultContent } from '../result-file.ts'

/**
 * Names of the label in lower case, by SPEC.md 2 and by the adapters of each language. Those differ in upper and lower
 * case (FIELD-NOTES.md 6).
 */
const identifierNames: ReadonlySet<string> = new Set(['as_id', 'allure_id', 'vendor_id'])

export interface IdentifierLabel {
  /** its index among the labels */
  at: number
  name: string
  value: string
  /** true if the service can have assigned it */
  isValid: boolean
}

const none: readonly IdentifierLabel[] = []

/** Lists the labels that hold an identifier. A label without a value counts as absent. */
export function identifierLabels({ labels }: ResultContent): readonly IdentifierLabel[] {
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

export function distinctIdentifiers(labels: readonly IdentifierLabel[]): string[] {
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
