import type { Fault, Shape } from './shape.ts'
import { flag, isObject, listOf, nullable, objectOf, oneOf, optional, text, whole } from './shape.ts'
import type { RepairId } from './plan.ts'

const absolute: Shape = (value, at) =>
  text(value, at) ?? ((value as string).startsWith('/') ? null : `${at} is not an absolute path`)

const positive: Shape = (value, at) => whole(value, at) ?? ((value as number) > 0 ? null : `${at} is not above 0`)

const fingerprinted = objectOf({ fingerprint: text, file: nullable(text) })

const settings = listOf((value, at) => {
  const named =
    isObject(value) && 'name' in value
      ? { name: text }
      : { known: oneOf('rabbitDurable', 'tokenValiditySeconds', 'integrationLogLevel') }
  return objectOf({ ...named, to: nullable(text), secret: optional(fingerprinted) })(value, at)
})

const chart = objectOf({ chart: text, chartVersion: nullable(text) })

const vendor = optional(objectOf({ prefix: optional(text), package: optional(text) }))

const none = objectOf({})

const files: Shape = (value, at) =>
  listOf(absolute)(value, at) ?? ((value as unknown[]).length > 0 ? null : `${at} is empty`)

/** Shapes of each repair's options, as `--dry-run --json` writes them and `apply` reads them back. */
const shapes: { readonly [K in RepairId]: Shape } = {
  'unlock-changelog': objectOf({ restart: flag, schema: nullable(text) }),
  'flush-sessions': objectOf({ all: flag, stale: flag, user: nullable(text) }),
  'reset-queues': objectOf({ drainSeconds: whole, discard: flag, queues: listOf(text) }),
  'migrate-trees': objectOf({
    items: listOf(objectOf({ project: positive, tree: nullable(positive) })),
    allProjects: flag,
    allTrees: flag,
    concurrency: positive,
    wait: flag,
  }),
  'use-legacy-image': ofOneFile(
    objectOf({
      main: optional(absolute),
      apply: optional((value, at) => (value === true ? null : chart(value, at))),
      chart: optional(chart),
      deployment: optional(text),
      values: optional(files),
      path: optional(listOf(text)),
      compose: optional(absolute),
      service: optional(nullable(text)),
      build: nullable(text),
      revert: flag,
    }),
  ),
  'set-env': objectOf({ settings, restart: flag, salt: text, vendor }),
  'set-env-values': objectOf({
    settings,
    values: files,
    main: optional(absolute),
    path: listOf(text),
    apply: optional(chart),
    chart: optional(chart),
    vendor,
  }),
  'service-stop': none,
  'service-start': none,
  'service-restart': none,
}

/** Accepts either values files or a compose file. */
function ofOneFile(shape: Shape): Shape {
  return (value, at) =>
    shape(value, at) ??
    (isObject(value) && Object.hasOwn(value, 'values') === Object.hasOwn(value, 'compose')
      ? `${at} must have either \`values\` or \`compose\``
      : null)
}

/** Returns what is wrong with the options of a saved plan; null: nothing. */
export function faultOfOptions(repair: RepairId, options: unknown): Fault | null {
  return shapes[repair](options, 'plan.options')
}
