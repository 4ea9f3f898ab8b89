import { shownPath } from './fields.ts'
import type { ManagedEntry } from './managers.ts'
import { nameOf } from './resources.ts'
import type { Resource } from './resources.ts'

/** A refusal of the API server, as the recorded exchanges in test/fixtures/kubernetes show it. */
export class Refused extends Error {
  constructor(
    readonly code: number,
    /** an answer that the server only passes on has none */
    readonly reason: string | undefined,
    message: string,
    readonly details: Readonly<Record<string, unknown>> | null = null,
  ) {
    super(message)
  }

  get body(): unknown {
    const { code, reason, message, details } = this
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details && { details }),
      code,
    }
  }
}

export function notFound(resource: Resource, name: string): Refused {
  return new Refused(404, 'NotFound', `${nameOf(resource)} "${name}" not found`, detailsOf(resource, name))
}

export function unauthorized(): Refused {
  return new Refused(401, 'Unauthorized', 'Unauthorized')
}

export function forbidden(
  user: string,
  verb: string,
  resource: Resource,
  { namespace, name, subresource }: { namespace: string | null; name: string | null; subresource: string | null },
): Refused {
  const what = `${nameOf(resource)}${name === null ? '' : ` "${name}"`}`
  const plural = subresource === null ? resource.plural : `${resource.plural}/${subresource}`
  const where = namespace === null ? 'at the cluster scope' : `in the namespace "${namespace}"`
  return new Refused(
    403,
    'Forbidden',
    `${what} is forbidden: User "${user}" cannot ${verb} resource "${plural}" ` +
      `in API group "${resource.group}" ${where}`,
    detailsOf(resource, name),
  )
}

export function conflict(resource: Resource, name: string): Refused {
  return new Refused(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${nameOf(resource)} "${name}": the object has been modified; please ` +
      'apply your changes to the latest version and try again',
    detailsOf(resource, name),
  )
}

/** The owners of fields that somebody else applies with other values, and these fields. */
export type Conflicts = readonly {
  owner: Pick<ManagedEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>
  fields: readonly string[]
}[]

/** As a server-side apply is refused (apimachinery, `managedfields/internal/conflict.go`). */
export function applyConflict(conflicts: Conflicts): Refused {
  const all = conflicts
    .map(({ owner, fields }) => ({
      by:
        `${JSON.stringify(owner.manager)}` +
        `${owner.subresource === undefined ? '' : ` with subresource ${JSON.stringify(owner.subresource)}`}` +
        `${owner.operation === 'Update' ? ` using ${owner.apiVersion}` : ''}`,
      fields: fields.map(shownPath),
    }))
    // what writes through a subresource is named first (`getConflictMessage`)
    .sort((one, other) => (one.by.replace(' with', '\0') < other.by.replace(' with', '\0') ? -1 : 1))
  const causes = all.flatMap(({ by, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${by}`, field })),
  )
  const [first] = causes
  const what =
    causes.length === 1
      ? `1 conflict: ${first!.message}: ${first!.field}`
      : `${causes.length} conflicts: ` +
        all.flatMap(({ by, fields }) => [`conflicts with ${by}:`, ...fields.map((field) => `- ${field}`)]).join('\n')
  return new Refused(409, 'Conflict', `Apply failed with ${what}`, { causes })
}

/** What the API's own rules say against an object: each as `spec.selector: Required value`. */
export function invalid(
  { kind, group }: Resource,
  name: string,
  faults: readonly { reason: 'FieldValueRequired' | 'FieldValueInvalid'; field: string; message: string }[],
): Refused {
  const all = faults.map(({ field, message }) => `${field}: ${message}`)
  const what = all.length === 1 ? all[0]! : `[${all.join(', ')}]`
  const causes = faults.map(({ reason, message, field }) => ({ reason, message, field }))
  return new Refused(422, 'Invalid', `${kind}${group === '' ? '' : `.${group}`} "${name}" is invalid: ${what}`, {
    name,
    ...(group !== '' && { group }),
    kind,
    causes,
  })
}

export function alreadyExists(resource: Resource, name: string): Refused {
  return new Refused(409, 'AlreadyExists', `${nameOf(resource)} "${name}" already exists`, detailsOf(resource, name))
}

/** A patch that makes no object: its value as Go prints a map. */
export function invalidPatch(patch: unknown): Refused {
  const message = `Invalid value: ${JSON.stringify(goText(patch))}: unrecognized type: int32`
  return new Refused(422, 'Invalid', ` "" is invalid: patch: ${message}`, {
    causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }],
  })
}

/** What a JSON patch that cannot be applied, a failed `test` among them, is answered with. */
export function unprocessable(): Refused {
  return new Refused(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
}

export function badRequest(message: string): Refused {
  return new Refused(400, 'BadRequest', message)
}

/**
 * What a server says that does not reach the kubelet of a node, for streams (`log-kubelet-unreachable` and others show
 * each).
 */
export function kubeletUnreachable(message = `error dialing backend: ${kubeletRefuses}`): Refused {
  return new Refused(500, undefined, message)
}

/** in Go's words */
export const kubeletRefuses = 'dial tcp 10.99.0.1:10251: connect: connection refused'

export function unsupported(type: string): Refused {
  return new Refused(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: application/json, got ${type}`,
  )
}

function detailsOf({ plural, group }: Resource, name: string | null): Readonly<Record<string, unknown>> {
  return { ...(name !== null && { name }), ...(group !== '' && { group }), kind: plural }
}

function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `map[${entries.map(([key, it]) => `${key}:${goText(it)}`).join(' ')}]`
}
