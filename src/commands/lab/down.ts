import { BaseCommand } from '../../cli/base-command.ts'
import { withLab } from '../../cli/lab.ts'
import { takeLabDown } from '../../lab/down.ts'
import { labDownText } from '../../output/lab.ts'
import type { LabDownDocument } from '../../output/lab.ts'

export default class LabDown extends BaseCommand {
  static override summary = 'Stop the practice deployment and remove it'
  static override description = 'Also removes what a killed `lab up` left behind. Does nothing if there is no lab.'
  static override examples = ['<%= config.bin %> lab down']

  override async run(): Promise<void> {
    const { flags } = await this.parse(LabDown)
    const document: LabDownDocument = {
      schemaVersion: 1,
      ...(await withLab((message) => this.progress(message), takeLabDown)),
    }
    this.show(flags, document, (document, screen) => labDownText(document, screen))
  }
}
