import { Args } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { showReport } from '../../cli/report/read.ts'
import { shownText } from '../../output/report.ts'

export default class ReportShow extends BaseCommand {
  static override summary = 'List what is in a report'
  static override description =
    'Shows when a report was made, what doctor found, which files are in it, what is missing, and where secrets were ' +
    'removed.'
  static override examples = ['<%= config.bin %> report show testops-report-prod-20261128T0233Z.tar.gz']
  static override args = {
    archive: Args.string({ ignoreStdin: true, description: 'FILE that `report` wrote', required: true }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ReportShow)
    this.show(flags, await showReport(args.archive), shownText)
  }
}
