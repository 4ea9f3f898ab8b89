import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { repairs } from '../repairs/index.ts'

export default class FlushSessions extends BaseCommand {
  static override summary = "Remove sessions: all, invalid ones, or one user's"
  static override description =
    'Counts the sessions first, then removes exactly those and verifies that they are gone. Users who sign in ' +
    'during the run stay signed in. Keys that are not sessions are never touched. The service keeps running.\n\n' +
    'There is no undo: signed-out users sign in again.\n\n' +
    'Exit 0 if done or if there is nothing to remove, 4 if refused, 6 if unfinished: run `resume`.'
  static override examples = [
    { description: 'show what would be done', command: '<%= config.bin %> flush-sessions --dry-run' },
    { description: 'only invalid sessions', command: '<%= config.bin %> flush-sessions --stale' },
    {
      description: 'in a runbook, without a question',
      command: '<%= config.bin %> flush-sessions -d prod --confirm prod',
    },
  ]
  static override flags = {
    ...repairFlags,
    all: Flags.boolean({
      summary: 'Empty the database at once (FLUSHDB) if it holds only sessions',
      exclusive: ['stale', 'user'],
    }),
    stale: Flags.boolean({
      summary: 'Remove only expired sessions and sessions from the future',
      exclusive: ['all', 'user'],
    }),
    user: Flags.string({
      summary: "Remove only this user's sessions; needs the service's index of users",
      helpValue: 'NAME',
      exclusive: ['all', 'stale'],
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(FlushSessions)
    const options = { all: flags.all ?? false, stale: flags.stale ?? false, user: flags.user ?? null }
    const wish = {
      repair: repairs['flush-sessions'],
      options,
      words: process.argv.slice(2),
      version: this.config.version,
    }
    showPerformed(await runRepair(flags, wish), flags)
  }
}
