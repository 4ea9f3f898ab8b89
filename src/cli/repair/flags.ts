import { Flags } from '@oclif/core'
import type { SelectedDeployment } from '../../runtime/index.ts'
import { relayFlag } from '../relay.ts'
import type { NamedFiles } from './files.ts'

const defaultPatienceSeconds = 600

/** The flags of every repair (DESIGN.md 2). */
export const repairFlags = {
  'dry-run': Flags.boolean({ summary: 'Show the plan and change nothing' }),
  confirm: Flags.string({ summary: "Confirm without a question: the deployment's name", helpValue: 'NAME' }),
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
  /** Repaired in place of a deployment */
  files?: NamedFiles
  /** The deployment, if it is known already */
  selected?: SelectedDeployment
}

export function patienceMs({ patience = defaultPatienceSeconds }: Pick<RepairFlags, 'patience'>): number {
  return patience * 1000
}
