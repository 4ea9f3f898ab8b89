import { BaseCommand } from '../../cli/base-command.ts'
import { withLab } from '../../cli/lab.ts'
import { labStatus } from '../../lab/status.ts'
import { labStatusText } from '../../output/lab.ts'
import type { LabStatusDocument } from '../../output/lab.ts'

export default class LabStatus extends BaseCommand {
  static override summary = 'Show what is running in the lab, and what is broken'
  static override examples = ['<%= config.bin %> lab status', '<%= config.bin %> lab status --json']

  override async run(): Promise<void> {
    const { flags } = await this.parse(LabStatus)
    const document: LabStatusDocument = {
      schemaVersion: 1,
      ...(await withLab((message) => this.progress(message), labStatus)),
    }
    this.show(flags, document, (document, screen) => labStatusText(document, screen))
  }
}
