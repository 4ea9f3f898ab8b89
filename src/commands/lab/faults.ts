import { BaseCommand } from '../../cli/base-command.ts'
import { faultRows } from '../../lab/fault-list.ts'
import { labFaultsText } from '../../output/lab.ts'
import type { LabFaultsDocument } from '../../output/lab.ts'

export default class LabFaults extends BaseCommand {
  static override summary = 'List the faults that `lab break` can cause'
  static override examples = ['<%= config.bin %> lab faults', '<%= config.bin %> lab faults --json']

  override async run(): Promise<void> {
    const { flags } = await this.parse(LabFaults)
    const document: LabFaultsDocument = { schemaVersion: 1, faults: faultRows() }
    this.show(flags, document, (document, screen) => labFaultsText(document, screen))
  }
}
