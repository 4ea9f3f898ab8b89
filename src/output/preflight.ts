import type { DoctorReport } from '../core/check.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { typedHere } from './error-text.ts'
import { doctorBlocks, textOf } from './doctor/table.ts'
import type { DoctorView } from './doctor/table.ts'
import { hang, printable } from './text.ts'

/** What `preflight --json` prints. */
export interface PreflightDocument extends Omit<DoctorReport, 'build' | 'rootCauses'> {
  /** The present build; null: not declared */
  from: string | null
  /** As it was named */
  to: string
  broker?: string
  /** What is not known of the version, in a sentence */
  remark?: string
  verdict: 'ready' | 'not-ready' | 'not-known'
  /** What to do, in its order */
  steps: readonly Step[]
}

interface Step {
  text: string
  commands: readonly Suggestion[]
}

const verdicts: Readonly<Record<PreflightDocument['verdict'], string>> = {
  ready: 'Ready for',
  'not-ready': 'Not ready for',
  'not-known': 'Not known whether it is ready for',
}

/** Returns what stands in the way, what is not known, the steps in their order, and the verdict. */
export function preflightText(document: PreflightDocument, view: DoctorView): string {
  const { columns } = view.screen
  const { from, to, broker, remark, steps, verdict } = document
  const target = `${printable(to)}${broker === undefined ? '' : ` with RabbitMQ ${printable(broker)}`}`
  return textOf([
    ...doctorBlocks({ ...document, build: from, rootCauses: [] }, view),
    steps.length === 0
      ? []
      : [
          'Steps:',
          ...steps.flatMap(({ text, commands }, at) => [
            ...hang(`  ${at + 1}. `, printable(text), columns),
            ...commands.map((command) => `       ${printable(typedHere(command))}`),
          ]),
        ],
    remark === undefined ? [] : hang('', printable(remark), columns),
    hang('', `${verdicts[verdict]} ${target}.${view.exitCode === null ? '' : ` Exit code ${view.exitCode}.`}`, columns),
  ])
}
