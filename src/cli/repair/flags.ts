import { Flags } from '@oclif/core'
import type { NamedFile } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { nearestNames } from '../../core/nearest.ts'
import type { Plan } from '../../core/plan.ts'
import { fileOf, risksOf, runRisks } from '../../core/plan.ts'
import { command, nested } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { chooseFile } from '../../repairs/files/layout.ts'
import type { SelectedDeployment } from '../../runtime/index.ts'
import { quietFlag } from '../base-command.ts'
import { relayFlag } from '../interrupt.ts'

const defaultPatienceSeconds = 600

/** The flags of every repair (DESIGN.md 2). */
export const repairFlags = {
  'dry-run': Flags.boolean({ summary: 'Show the plan and change nothing' }),
  confirm: Flags.string({
    summary: "Confirm in advance, without a prompt: NAME is the deployment's name",
    helpValue: 'NAME',
  }),
  'accept-risk': Flags.string({
    summary: 'Accept a risk that the plan names',
    helpValue: 'RISK',
    multiple: true,
    delimiter: ',',
  }),
  relay: relayFlag,
  patience: Flags.integer({
    summary: 'Wait at most this long for the service to stop, start, answer or finish its jobs',
    helpValue: 'SECONDS',
    min: 1,
    max: 86_400,
    default: defaultPatienceSeconds,
    env: 'TESTOPS_ADMIN_PATIENCE',
  }),
  ...quietFlag,
}

/** The values of those flags, and of those of every command. */
export interface RepairFlags {
  deployment?: string | undefined
  config?: string | undefined
  json: boolean
  verbose: boolean
  timeout?: number | undefined
  'dry-run'?: boolean
  confirm?: string | undefined
  'accept-risk'?: string[] | undefined
  patience?: number
  relay?: boolean
  /** No flag: ids of problems that `doctor --fix` has other repairs for */
  others?: readonly string[]
  /** Repaired in place of a deployment */
  files?: NamedFiles
  /** The deployment, if it is known already */
  selected?: SelectedDeployment
}

export function patienceMs({ patience = defaultPatienceSeconds }: Pick<RepairFlags, 'patience'>): number {
  return patience * 1000
}

/** Throws USAGE if no repair knows an accepted risk. A risk that this plan lacks is fine: a runbook may name it. */
export function refuseUnknownRisks(accepted: readonly string[]): void {
  const known = [...new Set([...Object.values(risksOf).flat(), ...runRisks])].sort()
  const unknown = accepted.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const nearest = nearestNames(unknown, known)
  throw new AdminError(
    'USAGE',
    `unknown risk \`${unknown}\`; the known risks are ${known.join(', ')}`,
    nearest.map((name) => command`--accept-risk ${name}`),
  )
}

/** Throws REFUSED if the plan names a risk that was not accepted. */
export function refuseRisks(
  { risks }: Pick<Plan, 'risks'>,
  accepted: readonly string[],
  words: readonly string[],
): void {
  const open = risks.filter(({ name }) => !accepted.includes(name))
  if (open.length === 0) return
  const again = typed(['testops-admin', ...words, ...open.flatMap(({ name }) => ['--accept-risk', name])])
  throw new AdminError('REFUSED', open.map(({ message }) => message).join('; '), [
    ...open.flatMap(({ proof }) => proof),
    command`${nested(again)}   # only if you are sure`,
  ])
}

/** Files of settings to repair in place of a deployment; absolute paths, no links. */
interface NamedFiles {
  flag: NamedFile['flag']
  paths: readonly string[]
  /** The file that stands for the work: its base name confirms it, and its journals record it */
  main: string
}

/** Flags of `history`, `resume` and `undo`. */
export const oneFileFlags = {
  values: Flags.string({
    summary: 'Look for repairs made to this values file, not to a deployment',
    helpValue: 'FILE',
    exclusive: ['compose'],
  }),
  compose: Flags.string({
    summary: 'Look for repairs made to this compose file, not to a deployment',
    helpValue: 'FILE',
  }),
}

/**
 * Returns the files that the flags name; `of` is the key that selects the main one. Throws USAGE as reading them does.
 */
export async function namedFiles(
  { values, compose }: { values?: string | string[] | undefined; compose?: string | undefined },
  of: readonly string[] = [],
): Promise<{ files?: NamedFiles }> {
  const named = compose === undefined ? [values ?? []].flat() : [compose]
  if (named.length === 0) return {}
  if (named.includes(''))
    throw new AdminError('USAGE', `--${compose === undefined ? 'values' : 'compose'} needs the name of a file`)
  const { openFile, placeOfFile } = await import('../../runtime/index.ts')
  const flag = compose === undefined ? '--values' : '--compose'
  const paths = await Promise.all(named.map(async (it) => placeOfFile(it, process.cwd())))
  const last = paths.at(-1)!
  if (new Set(paths).size === 1 || of.length === 0) return { files: { flag, paths, main: last } }
  const { file } = await chooseFile(await openFile({ flag, path: last }, [], process.env).open.files(), paths, of)
  return { files: { flag, paths, main: file } }
}

/** Returns the files of a saved plan. */
export function filesOfPlan(plan: Plan): { files?: NamedFiles } {
  const file = fileOf(plan)
  if (!file) return {}
  const { values } = plan.options
  const paths = Array.isArray(values) ? values.filter((it) => typeof it === 'string') : [file.path]
  return { files: { flag: file.flag, paths, main: file.path } }
}

/** Splits `a.b` into keys. Throws USAGE if a key is empty. */
export function keyPath(text: string | undefined): readonly string[] {
  if (text === undefined) return []
  const keys = text.split('.')
  if (keys.includes(''))
    throw new AdminError('USAGE', `--path ${text} has an empty key: join keys with single dots`, ['--path testops'])
  return keys
}
