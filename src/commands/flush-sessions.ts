import { Flags } from '@oclif/core'
import { repairFlags } from '../cli/repair/flags.ts'
import { RepairCommand } from '../cli/repair/repair-command.ts'
import type { Repaired } from '../cli/repair/repair-command.ts'
import { repairs } from '../repairs/index.ts'

export default class FlushSessions extends RepairCommand {
  static override summary = "Remove sessions: all, invalid ones, or one user's"
  static override description =
    'Counts the sessions, removes exactly the counted sessions, and verifies that they are gone. Users who sign in ' +
    'during the run stay signed in. Other keys in Redis stay. The service keeps running.\n\n' +
    'There is no undo: signed-out users must sign in again.\n\n' +
    'Exit 0 if done or if there is nothing to remove, 4 if refused, 6 if unfinished (then run `resume`).'
  static override examples = [
    { description: 'Show the plan', command: '<%= config.bin %> flush-sessions --dry-run' },
    { description: 'Remove only invalid sessions', command: '<%= config.bin %> flush-sessions --stale' },
    {
      description: 'In a runbook, without asking for confirmation',
      command: '<%= config.bin %> flush-sessions -d prod --confirm prod',
    },
  ]
  static override flags = {
    ...repairFlags,
    all: Flags.boolean({
      summary: 'Empty the whole Redis database with one command (FLUSHDB) if it contains only sessions',
      exclusive: ['stale', 'user'],
    }),
    stale: Flags.boolean({
      summary: 'Remove only invalid sessions: expired, or dated in the future',
      exclusive: ['all', 'user'],
    }),
    user: Flags.string({
      summary: "Remove only this user's sessions; works only if the service keeps an index of sessions by user",
      helpValue: 'NAME',
      exclusive: ['all', 'stale'],
    }),
  }

  override async repair(): Promise<Repaired> {
    const { flags } = await this.parse(FlushSessions)
    const options = { all: flags.all ?? false, stale: flags.stale ?? false, user: flags.user ?? null }
    const wish = {
      repair: repairs['flush-sessions'],
      options,
      words: this.words,
      version: this.config.version,
    }
    return { result: await this.perform(flags, wish), flags }
  }
}
