import { Flags } from '@oclif/core'
import { BaseCommand, quietFlag } from '../cli/base-command.ts'
import { relayFlag } from '../cli/interrupt.ts'
import { makeReport } from '../cli/report/make.ts'
import { madeText } from '../output/report.ts'
import { commandsBy } from './doctor.ts'

export default class Report extends BaseCommand {
  static override summary = 'Save the state of a deployment in a file, without secrets'
  static override description =
    'Runs all checks and writes their results, the answers they rest on, the settings, versions, log excerpts and ' +
    'records of repairs into one archive. Removes secrets before it writes anything; the same secret gets the same ' +
    'number everywhere. Changes nothing in the deployment.\n\n' +
    '`doctor --from` examines the archive on another machine, without a network. `report show` lists what is in it, ' +
    'and `report diff` compares two.\n\n' +
    'Exit 0 if the archive was written, even if some parts could not be read: it says which. Exit 4 if the file exists.'
  static override examples = [
    { description: 'Save a report of a deployment in this folder', command: '<%= config.bin %> report -d prod' },
    {
      description: 'Keep it small enough for a ticket',
      command: '<%= config.bin %> report -d prod --max-size 5MB --output ticket-17.tar.gz',
    },
  ]
  static override flags = {
    output: Flags.string({
      summary: 'Write this file; by default, testops-report-NAME-TIME.tar.gz in this folder',
      helpValue: 'FILE',
    }),
    'max-size': Flags.string({
      summary: 'Leave out what goes beyond this size, before compression',
      helpValue: 'SIZE',
      default: '50MB',
    }),
    relay: relayFlag,
    ...quietFlag,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Report)
    this.show(flags, await makeReport(flags, this.config.version, commandsBy(this.config)), madeText)
  }
}
