import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { repairs } from '../repairs/index.ts'

export default class ResetQueues extends BaseCommand {
  static override summary = 'Make the queues durable, keeping their messages'
  static override description =
    'Makes the setting and the queues agree. Where the queues are durable already, or are not there, that is the setting and a restart. ' +
    'Otherwise the service is stopped, the messages of its transient queues are moved aside, the queues are deleted and declared anew, ' +
    'the messages are moved back, and the service is started. A run that is interrupted loses nothing: `resume` goes on with it, `undo` takes it back.\n\n' +
    'Ends with 0 when done or when there is nothing to do, 4 when it is not safe, 6 when half done.'
  static override examples = [
    { description: 'show what would be done', command: '<%= config.bin %> reset-queues --dry-run' },
    { description: 'in a runbook, without a question', command: '<%= config.bin %> reset-queues -d prod --confirm prod' },
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
      summary: "Convert only these queues, whoever uses them; * and ? are wildcards",
      helpValue: 'PATTERN',
      multiple: true,
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(ResetQueues)
    const options = { drainSeconds: flags.drain, discard: flags['discard-messages'] ?? false, queues: flags.queue ?? [] }
    const wish = { repair: repairs['reset-queues'], options, words: process.argv.slice(2), version: this.config.version }
    showPerformed(await runRepair(flags, wish), flags)
  }
}
