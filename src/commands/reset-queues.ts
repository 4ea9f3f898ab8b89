import { Flags } from '@oclif/core'
import { repairFlags } from '../cli/repair/flags.ts'
import { RepairCommand } from '../cli/repair/repair-command.ts'
import type { Repaired } from '../cli/repair/repair-command.ts'
import { repairs } from '../repairs/index.ts'

export default class ResetQueues extends RepairCommand {
  static override summary = 'Make the queues durable, keeping their messages'
  static override description =
    'Makes the queues durable, and makes the service declare them as durable. If every queue is durable or missing, ' +
    "changes the service's setting and restarts the service. Otherwise stops the service and moves the messages of " +
    'transient queues aside. Then redeclares these queues as durable, moves the messages back, and starts the ' +
    'service.\n\n' +
    'An interrupted run loses nothing: run `resume` or `undo`.\n\n' +
    'Exit 0 if done or if there is nothing to do, 4 if refused, 6 if unfinished.'
  static override examples = [
    { description: 'Show the plan', command: '<%= config.bin %> reset-queues --dry-run' },
    {
      description: 'In a runbook, without asking for confirmation',
      command: '<%= config.bin %> reset-queues -d prod --confirm prod',
    },
  ]
  static override flags = {
    ...repairFlags,
    drain: Flags.integer({
      summary: 'First let a running service empty its queues, for up to SECONDS',
      helpValue: 'SECONDS',
      min: 0,
      max: 86_400,
      default: 30,
    }),
    'discard-messages': Flags.boolean({
      summary: 'Delete the messages instead of keeping them; they cannot be recovered',
    }),
    queue: Flags.string({
      summary: 'Convert only these queues, even if other programs use them; * and ? are wildcards',
      helpValue: 'PATTERN',
      multiple: true,
    }),
  }

  override async repair(): Promise<Repaired> {
    const { flags } = await this.parse(ResetQueues)
    const options = {
      drainSeconds: flags.drain,
      discard: flags['discard-messages'] ?? false,
      queues: flags.queue ?? [],
    }
    const wish = {
      repair: repairs['reset-queues'],
      options,
      words: this.words,
      version: this.config.version,
    }
    return { result: await this.perform(flags, wish), flags }
  }
}
