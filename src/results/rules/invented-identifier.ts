import type { Found } from '../problem.ts'
import type { FileRule } from '../rule.ts'
import { distinctIdentifiers, identifierLabels } from './identifier.ts'
import type { IdentifierLabel } from './identifier.ts'
import { listed, quoted } from './said.ts'

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
