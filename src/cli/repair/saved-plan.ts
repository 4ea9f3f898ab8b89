import { AdminError, messageOf } from '../../core/error.ts'
import { hasMask } from '../../core/redaction/table.ts'
import type { Plan, RepairId } from '../../core/plan.ts'
import type { RepairDocument } from '../../core/repair.ts'
import { fileOf } from '../../core/plan.ts'
import { faultOfPlan } from '../../core/run-record.ts'
import { onDeployment } from '../../core/typed.ts'
import { hashOf } from '../../engine/carry-out.ts'
import { asPath, command, nested } from '../../core/shell-command.ts'
import { inputName, readInput } from '../../runtime/read-input.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { Fault, Shape } from '../../core/shape.ts'
import { flag, isObject, listOf, nullable, objectOf, oneOf, optional, text, whole } from '../../core/shape.ts'

/**
 * Reads the plan of a document that --dry-run --json printed. Throws USAGE if it is none, or one for another
 * deployment, and REFUSED if it has changed since. A plan for a file contradicts no deployment that was not typed.
 */
export async function savedPlan(file: string, deployment: string | undefined, isTyped = true): Promise<Plan> {
  const document = parse(await readInput(file, { mostBytes: 50_000_000, next: how }), file)
  const { plan, hash } = document
  const fault =
    document.schemaVersion !== 1
      ? '`schemaVersion` is not 1'
      : typeof hash !== 'string'
        ? '`hash` is missing'
        : faultOfPlan(plan)
  if (fault !== null || plan === undefined) {
    throw new AdminError(
      'USAGE',
      `${inputName(file)} is not a plan that this version of testops-admin can read: ${String(fault)}`,
      how,
    )
  }
  const unknown = faultOfOptions(plan.repair, plan.options)
  if (unknown !== null)
    throw new AdminError(
      'USAGE',
      `${inputName(file)} is not a plan that this version of testops-admin can read: ${unknown.toString()}`,
      how,
    )
  if (hashOf(plan) !== hash && hasMask(JSON.stringify(plan)))
    throw new AdminError(
      'REFUSED',
      `the plan in ${inputName(file)} shows \`[secret]\` instead of a secret, so it cannot be applied. Run the ` +
        'command again without --dry-run',
    )
  if (hashOf(plan) !== hash)
    throw new AdminError('REFUSED', `the plan in ${inputName(file)} was edited after it was made`, how)
  if (deployment !== undefined && deployment !== plan.deployment && (isTyped || !fileOf(plan))) {
    throw new AdminError(
      'USAGE',
      `the plan in ${inputName(file)} is for deployment \`${plan.deployment}\`, not for \`${deployment}\``,
      [command`testops-admin apply ${asPath(file)} ${nested(onDeployment(plan.deployment))}`],
    )
  }
  return plan
}

const how: readonly Suggestion[] = [
  'testops-admin unlock-changelog --dry-run --json > plan.json   # for example, saves the plan of unlock-changelog',
]

function parse(read: string, file: string): Partial<RepairDocument> {
  try {
    const value = JSON.parse(read) as Partial<RepairDocument> | null
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    throw new AdminError('USAGE', `${inputName(file)} is not a JSON document: ${messageOf(error)}`, how, {
      cause: error,
    })
  }
  throw new AdminError('USAGE', `${inputName(file)} is not a plan`, how)
}

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
