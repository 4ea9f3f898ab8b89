import { Flags } from '@oclif/core'
import { repairFlags } from '../cli/repair/flags.ts'
import { RepairCommand } from '../cli/repair/repair-command.ts'
import type { Repaired } from '../cli/repair/repair-command.ts'
import { repairs } from '../repairs/index.ts'

export default class UnlockChangelog extends RepairCommand {
  static override summary = 'Release a stuck Liquibase lock'
  static override description =
    'Stops the service and checks the lock holder again. Then releases the lock, if its row in ' +
    '`databasechangeloglock` is unchanged. Then starts the service and waits until it answers. `undo` writes the ' +
    'old row back.\n\n' +
    'Exit 0 if done or if the lock is free, 4 if the process that holds the lock is alive or may be alive, 6 if ' +
    'unfinished.'
  static override examples = [
    { description: 'Show the plan', command: '<%= config.bin %> unlock-changelog --dry-run' },
    {
      description: 'In a runbook, without asking for confirmation',
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
    schema: Flags.string({ summary: 'Choose this schema if several schemas have the lock table', helpValue: 'NAME' }),
  }

  override async repair(): Promise<Repaired> {
    const { flags } = await this.parse(UnlockChangelog)
    const options = { restart: flags.restart, schema: flags.schema ?? null }
    const wish = {
      repair: repairs['unlock-changelog'],
      options,
      words: this.words,
      version: this.config.version,
    }
    return { result: await this.perform(flags, wish), flags }
  }
}
