import { Args } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { namedFiles, oneFileFlags } from '../cli/repair/files.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { undoRun } from '../cli/repair/resume-run.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { assertRunName } from '../core/run-name.ts'

const { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, patience, relay } = repairFlags

export default class Undo extends BaseCommand {
  static override summary = 'Undo a repair, finished or not'
  static override description =
    'Shows the plan, then undoes the steps, last one first. A step is undone only if the deployment is as that step ' +
    'left it.\n\n' +
    'Exit 4 with the reason if it cannot be undone now.'
  static override examples = ['<%= config.bin %> undo RUN -d prod --confirm prod']
  static override args = {
    run: Args.string({ ignoreStdin: true, description: 'RUN, as `history` lists it', required: true }),
  }
  static override flags = { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, patience, relay, ...oneFileFlags }

  override async run(): Promise<void> {
    const { flags, args } = await this.parse(Undo)
    assertRunName(args.run)
    const performed = await undoRun({ ...flags, ...(await namedFiles(flags)) }, args.run, process.argv.slice(2))
    if (performed) showPerformed(performed, flags)
    else
      this.show(
        flags,
        { schemaVersion: 1, outcome: 'nothing-to-do' },
        () => 'Nothing to undo: the run changed nothing, or was undone already.\n',
      )
  }
}
