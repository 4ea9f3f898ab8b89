import { Args } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { compareReports } from '../../cli/report/read.ts'
import { differenceText } from '../../output/report.ts'

export default class ReportDiff extends BaseCommand {
  static override summary = 'Show what changed between two reports'
  static override description =
    'Compares the results of the checks, the image, versions, settings, Helm values, queues and restarts. Secrets ' +
    'cannot be compared, since each report numbers its own.\n\n' +
    'Exit 0 if no difference was found, 1 if there is one.'
  static override examples = ['<%= config.bin %> report diff before.tar.gz after.tar.gz']
  static override args = {
    from: Args.string({ ignoreStdin: true, description: 'FILE, the earlier report', required: true }),
    to: Args.string({ ignoreStdin: true, description: 'FILE, the later report', required: true }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ReportDiff)
    const document = await compareReports(args.from, args.to)
    this.show(flags, document, differenceText)
    process.exitCode ??= document.changes.length === 0 ? 0 : 1
  }
}
