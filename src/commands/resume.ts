import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { namedFiles, oneFileFlags } from '../cli/repair/files.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { resumeRun } from '../cli/repair/resume-run.ts'
import { showPerformed } from '../cli/repair/show.ts'

const { confirm, patience, relay } = repairFlags

export default class Resume extends BaseCommand {
  static override summary = 'go on with a repair that was interrupted'
  static override description =
    'Does what is left of the plan that was confirmed. What has been done is not done again; what was being taken back is taken back. --adopt takes over a run that was ' +
    'begun on another machine, from the journal that the deployment keeps, and asks for confirmation.'
  static override examples = [
    { description: 'the only run that has not come to its end', command: '<%= config.bin %> resume' },
    { description: 'from another machine', command: '<%= config.bin %> resume --adopt RUN --confirm prod -d prod' },
  ]
  static override args = { run: Args.string({ description: 'RUN, as `history` lists it' }) }
  static override flags = {
    confirm,
    patience,
    relay,
    ...oneFileFlags,
    adopt: Flags.string({ summary: 'a run that was begun on another machine', helpValue: 'RUN' }),
  }

  override async run(): Promise<void> {
    const { flags, args } = await this.parse(Resume)
    const { adopt } = flags
    const going = { run: adopt ?? args.run ?? null, adopt: adopt !== undefined, words: process.argv.slice(2) }
    const performed = await resumeRun({ ...flags, ...(await namedFiles(flags)) }, going)
    if (performed) showPerformed(performed, flags)
    else this.show(flags, { schemaVersion: 1, outcome: 'nothing-to-do' }, () => 'There is no run to go on with: all have come to their end.\n')
  }
}
