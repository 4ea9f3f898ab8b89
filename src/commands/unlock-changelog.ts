import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { repairs } from '../repairs/index.ts'

export default class UnlockChangelog extends BaseCommand {
  static override summary = 'Release a stuck Liquibase lock'
  static override description =
    'Stops the service, judges the lock holder again, frees the row of databasechangeloglock with a compare-and-set, ' +
    'starts the service, and waits until it answers. `undo` puts the row back.\n\n' +
    'Exit 0 if done or if the lock is free, 4 if the holder is alive or cannot be proven dead, 6 if unfinished.'
  static override examples = [
    { description: 'show what would be done', command: '<%= config.bin %> unlock-changelog --dry-run' },
    {
      description: 'in a runbook, without a question',
      command: '<%= config.bin %> unlock-changelog -d prod --confirm prod',
    },
  ]
  static override flags = {
    ...repairFlags,
    restart: Flags.boolean({
      summary: 'Stop and start the service; --no-restart leaves that to you',
      default: true,
      allowNo: true,
    }),
    schema: Flags.string({ summary: 'Choose the schema, if several have the table', helpValue: 'NAME' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(UnlockChangelog)
    const options = { restart: flags.restart, schema: flags.schema ?? null }
    const wish = {
      repair: repairs['unlock-changelog'],
      options,
      words: process.argv.slice(2),
      version: this.config.version,
    }
    showPerformed(await runRepair(flags, wish), flags)
  }
}
