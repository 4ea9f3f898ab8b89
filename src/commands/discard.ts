import { Args } from '@oclif/core'
import { BaseCommand, quietFlag } from '../cli/base-command.ts'
import { discardRecord } from '../cli/repair/discard-record.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { typed } from '../core/typed.ts'
import { discardText } from '../output/record.ts'

const { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, relay } = repairFlags

export default class Discard extends BaseCommand {
  static override summary = 'Remove a forged or unreadable record of a run'
  static override description =
    'Shows the saved record of a run in the deployment, copies the record to this machine, then removes it from the ' +
    'deployment. Does not undo anything that the run did.\n\n' +
    'Exit 4 if a repair may still be unfinished.'
  static override examples = [
    { description: 'Read the record', command: '<%= config.bin %> discard RUN --dry-run -d prod' },
    { description: 'Remove the record', command: '<%= config.bin %> discard RUN -d prod --confirm prod' },
  ]
  static override args = {
    run: Args.string({ ignoreStdin: true, description: 'RUN, as `history` lists it', required: true }),
  }
  static override flags = { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, relay, ...quietFlag }

  override async run(): Promise<void> {
    const { flags, args } = await this.parse(Discard)
    const words = process.argv.slice(2)
    const document = await discardRecord(flags, args.run, words)
    const again = typed(['testops-admin', ...words.filter((word) => word !== '--dry-run')])
    this.show(flags, document, () => discardText(document, again))
  }
}
