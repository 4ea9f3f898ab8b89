import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { namedFiles, oneFileFlags } from '../cli/repair/files.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { resumeRun } from '../cli/repair/resume-run.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { assertRunName } from '../core/run-name.ts'

const { 'dry-run': dryRun, 'accept-risk': acceptRisk, confirm, patience, relay } = repairFlags

export default class Resume extends BaseCommand {
  static override summary = 'Resume an interrupted repair'
  static override description =
    'Shows the plan, then runs the steps that are left. A step that the record calls done is checked in the ' +
    'deployment first. If the two disagree, nothing changes.\n\n' +
    '--adopt resumes a run of another machine from the record in the deployment, where others may write. Read its ' +
    'plan with --dry-run first.'
  static override examples = [
    { description: 'Resume the only unfinished run', command: '<%= config.bin %> resume' },
    { description: 'Read a run of another machine', command: '<%= config.bin %> resume --adopt RUN --dry-run -d prod' },
    {
      description: 'Adopt it',
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
    adopt: Flags.string({ summary: 'Resume a run that another machine began', helpValue: 'RUN' }),
  }

  override async run(): Promise<void> {
    const { flags, args } = await this.parse(Resume)
    const { adopt } = flags
    for (const name of [adopt, args.run]) if (name !== undefined) assertRunName(name)
    const going = { run: adopt ?? args.run ?? null, adopt: adopt !== undefined, words: process.argv.slice(2) }
    const performed = await resumeRun({ ...flags, ...(await namedFiles(flags)) }, going)
    if (performed) showPerformed(performed, flags)
    else
      this.show(
        flags,
        { schemaVersion: 1, outcome: 'nothing-to-do' },
        () => 'Nothing to resume: every run is finished.\n',
      )
  }
}
