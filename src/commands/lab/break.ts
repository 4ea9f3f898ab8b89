import { Args } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { withLab } from '../../cli/lab.ts'
import { breakLab } from '../../lab/break.ts'
import { labBreakText } from '../../output/lab.ts'
import type { LabBreakDocument } from '../../output/lab.ts'

export default class LabBreak extends BaseCommand {
  static override summary = 'Break the practice deployment'
  static override description =
    'Creates the cause of a fault, not its symptom. FAULT without VARIANT means the first variant of the fault. If ' +
    'you name several faults, they are created one after the other. To list the names: `lab faults`.'
  static override examples = [
    '<%= config.bin %> lab break stuck-lock',
    '<%= config.bin %> lab break durable-mismatch/setting-false unknown-host',
  ]
  static override args = {
    fault: Args.string({ ignoreStdin: true, description: 'FAULT or FAULT/VARIANT, one or more', required: true }),
  }
  static override strict = false

  override async run(): Promise<void> {
    const { argv, flags } = await this.parse(LabBreak)
    const { made, already } = await withLab(
      (message) => this.progress(message),
      (lab) => breakLab(lab, argv.map(String)),
    )
    const [only, ...others] = made
    const document: LabBreakDocument = {
      schemaVersion: 1,
      made: made.map(({ name, fault, case: it }) => ({ name, made: it.made, repair: fault.repair })),
      already,
      expectedExitCode: only && others.length === 0 && already.length === 0 ? only.case.expected.exitCode : null,
    }
    this.show(flags, document, (document, screen) => labBreakText(document, screen))
  }
}
