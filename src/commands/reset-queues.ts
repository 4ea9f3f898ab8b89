import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { repairs } from '../repairs/index.ts'

export default class ResetQueues extends BaseCommand {
  static override summary = 'Make the queues durable, keeping their messages'
  static override description =
    'Makes the setting and the queues agree. If the queues are durable already, or missing, it changes the setting ' +
    'and restarts the service. Otherwise it stops the service, moves the messages of transient queues aside, ' +
    'redeclares the queues as durable, moves the messages back, and starts the service.\n\n' +
    'An interrupted run loses nothing: run `resume` or `undo`.\n\n' +
    'Exit 0 if done or if there is nothing to do, 4 if refused, 6 if unfinished.'
  static override examples = [
    { description: 'show what would be done', command: '<%= config.bin %> reset-queues --dry-run' },
    {
      description: 'in a runbook, without a question',
      command: '<%= config.bin %> reset-queues -d prod --confirm prod',
    },
  ]
  static override flags = {
    ...repairFlags,
    drain: Flags.integer({
      summary: 'Let a healthy service empty its queues for this long first',
      helpValue: 'SECONDS',
      min: 0,
      max: 86_400,
      default: 30,
    }),
    'discard-messages': Flags.boolean({ summary: 'Delete the messages with their queues: they are lost' }),
    queue: Flags.string({
      summary: 'Convert only these queues, no matter who uses them; * and ? are wildcards',
      helpValue: 'PATTERN',
      multiple: true,
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(ResetQueues)
    const options = {
      drainSeconds: flags.drain,
      discard: flags['discard-messages'] ?? false,
      queues: flags.queue ?? [],
    }
    const wish = {
      repair: repairs['reset-queues'],
      options,
      words: process.argv.slice(2),
      version: this.config.version,
    }
    showPerformed(await runRepair(flags, wish), flags)
  }
}
