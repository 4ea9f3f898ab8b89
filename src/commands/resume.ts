import { Args, Flags } from '@oclif/core'
import { quietFlag } from '../cli/base-command.ts'
import { namedFiles, oneFileFlags, repairFlags } from '../cli/repair/flags.ts'
import { resumeRun } from '../cli/repair/resume-run.ts'
import { RepairCommand } from '../cli/repair/repair-command.ts'
import type { Repaired } from '../cli/repair/repair-command.ts'
import { assertRunName } from '../core/run.ts'

const { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, patience, relay } = repairFlags

export default class Resume extends RepairCommand {
  static override summary = 'Resume an interrupted repair'
  static override description =
    'Shows the plan, then runs the remaining steps. Before it changes anything, it checks that the steps recorded ' +
    'as done are really done. If the record and the deployment disagree, it changes nothing.\n\n' +
    '--adopt resumes a run that was started on another machine. It reads the record of the run from the deployment. ' +
    'Someone else may have written that record, so read the plan with --dry-run first.'
  static override examples = [
    { description: 'Resume the only unfinished run', command: '<%= config.bin %> resume' },
    {
      description: 'Show the plan of a run that was started on another machine',
      command: '<%= config.bin %> resume --adopt RUN --dry-run -d prod',
    },
    {
      description: 'Then resume that run on this machine',
      command: '<%= config.bin %> resume --adopt RUN --accept-risk foreign-run --confirm prod -d prod',
    },
  ]
  static override args = { run: Args.string({ ignoreStdin: true, description: 'RUN, as `history` lists it' }) }
  static override flags = {
    'dry-run': dryRun,
    'accept-risk': acceptRisk,
    confirm,
    patience,
    relay,
    ...oneFileFlags,
    ...quietFlag,
    adopt: Flags.string({ summary: 'Resume a run that was started on another machine', helpValue: 'RUN' }),
  }

  override async repair(): Promise<Repaired> {
    const { flags, args } = await this.parse(Resume)
    const { adopt } = flags
    for (const name of [adopt, args.run]) if (name !== undefined) assertRunName(name)
    const going = { run: adopt ?? args.run ?? null, adopt: adopt !== undefined, words: this.words }
    const { others } = this
    return { result: await resumeRun({ ...flags, ...(await namedFiles(flags)), others }, going), flags }
  }

  protected override nothing(flags: Repaired['flags']): void {
    this.show(
      flags,
      { schemaVersion: 1, outcome: 'nothing-to-do' },
      () => 'Nothing to resume: every run is finished.\n',
    )
  }
}
