import { Args } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { discardRecord } from '../cli/repair/discard-record.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { typed } from '../core/typed.ts'
import { discardText } from '../output/discard.ts'

const { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, relay } = repairFlags

export default class Discard extends BaseCommand {
  static override summary = 'Remove a record that no repair wrote'
  static override description =
    'Shows the record of a run in the deployment, saves it on this machine, then removes it. It undoes nothing.\n\n' +
    'Exit 4 if part of a repair is still unfinished.'
  static override examples = [
    { description: 'Read the record', command: '<%= config.bin %> discard RUN --dry-run -d prod' },
    { description: 'Remove it', command: '<%= config.bin %> discard RUN -d prod --confirm prod' },
  ]
  static override args = {
    run: Args.string({ ignoreStdin: true, description: 'RUN, as `history` lists it', required: true }),
  }
  static override flags = { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, relay }

  override async run(): Promise<void> {
    const { flags, args } = await this.parse(Discard)
    const words = process.argv.slice(2)
    const document = await discardRecord(flags, args.run, words)
    const again = typed(['testops-admin', ...words.filter((word) => word !== '--dry-run')])
    this.show(flags, document, () => discardText(document, again))
  }
}
