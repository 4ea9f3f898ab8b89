import { isMembers } from './fields.ts'

type Json = unknown
type Members = Readonly<Record<string, Json>>

/**
 * Lists that are merged, and by which field their members are told apart, as the API's types declare it
 * (`patchMergeKey`).
 */
const mergeKeys: Readonly<Record<string, string | null>> = {
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  volumes: 'name',
  imagePullSecrets: 'name',
  volumeMounts: 'mountPath',
  ports: 'containerPort',
  conditions: 'type',
  ownerReferences: 'uid',
  finalizers: null,
}
const orderOf = '$setElementOrder/'

/** A strategic merge patch (apimachinery, `util/strategicpatch/patch.go`). */
export function strategicPatch(target: Json, patch: Json): Json {
  if (!isMembers(patch)) return patch
  const { $patch: directive, $retainKeys: retained, ...rest } = patch
  if (directive === 'delete') return {}
  const found = isMembers(target) && directive !== 'replace' ? Object.entries(target) : []
  const result: Record<string, Json> = Object.fromEntries(
    found.filter(([name]) => !Array.isArray(retained) || retained.includes(name)),
  )
  for (const [name, value] of Object.entries(rest)) {
    if (name.startsWith(orderOf)) continue
    const now = result[name]
    if (value === null) delete result[name]
    else if (now === undefined) result[name] = withoutDirectives(value)
    else
      result[name] =
        Array.isArray(value) && Array.isArray(now) && name in mergeKeys
          ? mergedLists(now, value, mergeKeys[name]!, rest[orderOf + name])
          : strategicPatch(now, value)
  }
  for (const [name, order] of Object.entries(rest)) {
    const list = name.slice(orderOf.length)
    const now = result[list]
    if (name.startsWith(orderOf) && !(list in rest) && Array.isArray(now))
      result[list] = mergedLists(now, [], mergeKeys[list] ?? null, order)
  }
  return result
}

/** What is new is taken without the members that are no values but orders. */
function withoutDirectives(value: Json): Json {
  const isOrder = (it: Json): boolean => isMembers(it) && '$patch' in it
  if (Array.isArray(value)) return value.filter((it) => !isOrder(it)).map(withoutDirectives)
  return isMembers(value) ? withoutUnknown(value, withoutDirectives) : value
}

/** A member that is new to a list is taken as it is, of which the types of the API know no order. */
function asType(value: Json): Json {
  if (Array.isArray(value)) return value.map(asType)
  return isMembers(value) ? withoutUnknown(value, asType) : value
}

function withoutUnknown(value: Members, of: (it: Json) => Json): Members {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, it]) => it !== null && !name.startsWith('$'))
      .map(([name, it]) => [name, of(it)]),
  )
}

function mergedLists(former: readonly Json[], patch: readonly Json[], mergeKey: string | null, given: Json): Json[] {
  const keyOf = (it: Json): Json => (mergeKey !== null && isMembers(it) ? it[mergeKey] : it)
  const isDirective = (it: Json): boolean => isMembers(it) && '$patch' in it
  const deleted = patch.filter(isDirective).map(keyOf)
  const wanted = patch.filter((it) => !isDirective(it))
  const server = former.filter((it) => !deleted.includes(keyOf(it)))
  const merged = [...server]
  for (const it of wanted) {
    const at = merged.findIndex((one) => keyOf(one) === keyOf(it))
    if (at < 0) merged.push(asType(it))
    else merged[at] = strategicPatch(merged[at], it)
  }
  return inOrder(merged, (Array.isArray(given) ? (given as Json[]) : wanted).map(keyOf), former.map(keyOf), keyOf)
}

/** As the patch has them; what it does not name goes before the first that it was before. */
function inOrder(
  all: readonly Json[],
  order: readonly Json[],
  server: readonly Json[],
  keyOf: (it: Json) => Json,
): Json[] {
  const by = (keys: readonly Json[]) => (one: Json, other: Json) =>
    keys.indexOf(keyOf(one)) - keys.indexOf(keyOf(other))
  const named = all.filter((it) => order.includes(keyOf(it))).sort(by(order))
  const others = all.filter((it) => !order.includes(keyOf(it))).sort(by(server))
  const isBefore = (one: Json, other: Json): boolean =>
    server.includes(keyOf(other)) && server.indexOf(keyOf(one)) < server.indexOf(keyOf(other))
  const result: Json[] = []
  for (const it of named) {
    while (others.length > 0 && isBefore(others[0], it)) result.push(others.shift())
    result.push(it)
  }
  return [...result, ...others]
}
