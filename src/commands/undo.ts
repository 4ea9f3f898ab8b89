import { Args } from '@oclif/core'
import { quietFlag } from '../cli/base-command.ts'
import { namedFiles, oneFileFlags, repairFlags } from '../cli/repair/flags.ts'
import { undoRun } from '../cli/repair/resume-run.ts'
import { RepairCommand } from '../cli/repair/repair-command.ts'
import type { Repaired } from '../cli/repair/repair-command.ts'
import { assertRunName } from '../core/run.ts'

const { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, patience, relay } = repairFlags

export default class Undo extends RepairCommand {
  static override summary = 'Undo a repair, finished or not'
  static override description =
    'Shows the plan, then undoes the steps in reverse order. Undoes a step only if its result in the deployment is ' +
    'unchanged.\n\n' +
    'Exit 4 with the reason if the repair cannot be undone now.'
  static override examples = ['<%= config.bin %> undo RUN -d prod --confirm prod']
  static override args = {
    run: Args.string({ ignoreStdin: true, description: 'RUN, as `history` lists it', required: true }),
  }
  static override flags = {
    'dry-run': dryRun,
    'accept-risk': acceptRisk,
    confirm,
    patience,
    relay,
    ...oneFileFlags,
    ...quietFlag,
  }

  override async repair(): Promise<Repaired> {
    const { flags, args } = await this.parse(Undo)
    assertRunName(args.run)
    return { result: await undoRun({ ...flags, ...(await namedFiles(flags)) }, args.run, this.words), flags }
  }

  protected override nothing(flags: Repaired['flags']): void {
    this.show(
      flags,
      { schemaVersion: 1, outcome: 'nothing-to-do' },
      () => 'Nothing to undo: the run changed nothing, or has already been undone.\n',
    )
  }
}
