import { isDeepStrictEqual } from 'node:util'
import { isMembers } from './fields.ts'
import type { Resource, Stored } from './resources.ts'
import { invalid } from './status.ts'

type Fault = Parameters<typeof invalid>[2][number]

/** Throws 422 where a Deployment is none any more, as the API's own rules have it; other kinds are not looked at. */
export function validate(resource: Resource, before: Stored | null, after: Stored): void {
  if (resource.plural !== 'deployments') return
  const [was, is] = [before, after].map((it) => (isMembers(it?.['spec']) ? it['spec'] : {})) as [
    Record<string, unknown>,
    Record<string, unknown>,
  ]
  const template = isMembers(is['template']) ? is['template'] : {}
  const pod = isMembers(template['spec']) ? template['spec'] : {}
  const faults: Fault[] = []
  if (is['selector'] === undefined)
    faults.push({ reason: 'FieldValueRequired', field: 'spec.selector', message: 'Required value' })
  if (!isChosen(is['selector'], template['metadata']))
    faults.push({
      reason: 'FieldValueInvalid',
      field: 'spec.template.metadata.labels',
      message: 'Invalid value: null: `selector` does not match template `labels`',
    })
  for (const list of ['initContainers', 'containers'])
    faults.push(...missingIn((pod[list] ?? []) as Container[], `spec.template.spec.${list}`))
  if (before !== null && !isDeepStrictEqual(was['selector'], is['selector']))
    faults.push({
      reason: 'FieldValueInvalid',
      field: 'spec.selector',
      message: `Invalid value: ${JSON.stringify(is['selector'] ?? null)}: field is immutable`,
    })
  if (faults.length > 0) throw invalid(resource, after.metadata.name, faults)
}

interface Container {
  image?: string
  volumeMounts?: { name?: string }[]
}

function missingIn(containers: readonly Container[], path: string): Fault[] {
  const missing = containers.flatMap(({ image, volumeMounts = [] }, index) => [
    ...(image ? [] : [`${path}[${index}].image`]),
    ...volumeMounts.flatMap(({ name }, at) => (name ? [] : [`${path}[${index}].volumeMounts[${at}].name`])),
  ])
  return missing.map((field) => ({ reason: 'FieldValueRequired', field, message: 'Required value' }))
}

function isChosen(selector: unknown, metadata: unknown): boolean {
  const labels = isMembers(metadata) && isMembers(metadata['labels']) ? metadata['labels'] : {}
  const wanted =
    isMembers(selector) && isMembers(selector['matchLabels']) ? Object.entries(selector['matchLabels']) : []
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value)
}
