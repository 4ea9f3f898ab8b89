import { Args } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { withLab } from '../../cli/lab.ts'
import { mendLab } from '../../lab/mend.ts'
import { labMendText } from '../../output/lab.ts'
import type { LabMendDocument } from '../../output/lab.ts'

export default class LabMend extends BaseCommand {
  static override summary = 'Remove all faults and wait until the lab is healthy'
  static override description =
    'Removes all faults, or only the named ones, and anything that an interrupted `lab break` left behind.\n\n' +
    'Exit 1 if `doctor` still finds a problem after a minute.'
  static override examples = ['<%= config.bin %> lab mend', '<%= config.bin %> lab mend stuck-lock']
  static override args = {
    fault: Args.string({
      ignoreStdin: true,
      description: 'FAULT or FAULT/VARIANT, one or more; with no argument, all faults',
    }),
  }
  static override strict = false

  override async run(): Promise<void> {
    const { argv, flags } = await this.parse(LabMend)
    const outcome = await withLab(
      (message) => this.progress(message),
      (lab) => mendLab(lab, argv.map(String)),
    )
    const document: LabMendDocument = { schemaVersion: 1, ...outcome }
    this.show(flags, document, (document) => labMendText(document))
  }
}
