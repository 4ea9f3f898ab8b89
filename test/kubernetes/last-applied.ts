import { compared } from './compare.ts'
import { fieldsOf, hasTwins, without } from './fields.ts'
import type { FieldSet } from './fields.ts'
import type { Stored } from './resources.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Fields that are as `kubectl apply` noted on its own side: kubectl's server-side apply takes them from whoever has
 * them (apimachinery, `managedfields/internal/lastappliedmanager.go`).
 */
export function lastAppliedFields(live: Stored, apiVersion: string): FieldSet {
  const noted = live.metadata.annotations?.[annotation]
  // an object with items that are alike has no fields that could be compared
  if (!noted || hasTwins(live)) return new Set()
  const { apiVersion: version, ...config } = JSON.parse(noted) as Stored
  if (version !== apiVersion) return new Set()
  const { added, modified, removed } = compared(config, live)
  return [modified, added, removed].reduce(without, fieldsOf(config))
}

/** The object with what kubectl applied noted in place of what was (`lastappliedupdater.go`). */
export function withLastApplied(object: Stored, config: Stored): Stored {
  const { annotations } = object.metadata
  if (!annotations?.[annotation]) return object
  const { annotations: given, ...metadata } = config.metadata
  const { [annotation]: _noted, ...others } = given ?? {}
  const note = { ...config, metadata: { ...metadata, ...(given && { annotations: others }) } }
  return {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...annotations, [annotation]: `${JSON.stringify(inOrder(note))}\n` },
    },
  }
}

/** As Go writes a map. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, it]) => [key, inOrder(it)]),
  )
}
