import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { repairs } from '../repairs/index.ts'

export default class FlushSessions extends BaseCommand {
  static override summary = "Remove sessions: all, invalid ones, or one user's"
  static override description =
    'Counts first. Removes the sessions that were counted, by the shape of their keys in the key space of the service, and sees that ' +
    'they are gone; whoever signs in meanwhile stays signed in. Keys that are no sessions are never touched. The service keeps ' +
    'running. There is no undo: whoever is signed out signs in again.\n\n' +
    'Ends with 0 when done or when there is nothing to remove, 4 when refused, 6 when half done: `resume` goes on.'
  static override examples = [
    { description: 'show what would be done', command: '<%= config.bin %> flush-sessions --dry-run' },
    { description: 'only what is not valid now', command: '<%= config.bin %> flush-sessions --stale' },
    { description: 'in a runbook, without a question', command: '<%= config.bin %> flush-sessions -d prod --confirm prod' },
  ]
  static override flags = {
    ...repairFlags,
    all: Flags.boolean({ summary: 'Empty the database at once (FLUSHDB) if it holds only sessions', exclusive: ['stale', 'user'] }),
    stale: Flags.boolean({ summary: 'Remove only expired sessions and sessions from the future', exclusive: ['all', 'user'] }),
    user: Flags.string({ summary: "Remove only this user's sessions; needs the service's index of users", helpValue: 'NAME', exclusive: ['all', 'stale'] }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(FlushSessions)
    const options = { all: flags.all ?? false, stale: flags.stale ?? false, user: flags.user ?? null }
    const wish = { repair: repairs['flush-sessions'], options, words: process.argv.slice(2), version: this.config.version }
    showPerformed(await runRepair(flags, wish), flags)
  }
}
