import { Args } from '@oclif/core'
import { BaseCommand, isTyped, quietFlag } from '../cli/base-command.ts'
import { filesOfPlan, repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { savedPlan } from '../cli/repair/saved-plan.ts'
import { showPerformed } from '../cli/repair/repair-command.ts'
import { repairs } from '../repairs/index.ts'

const { confirm, patience, relay, 'accept-risk': acceptRisk } = repairFlags

export default class Apply extends BaseCommand {
  static override summary = 'Apply a saved plan'
  static override description =
    'PLAN is the output of a repair with --dry-run --json.\n\n' +
    'Exit 4 if the plan was edited, or if the deployment has changed since the plan was made. `apply` makes ' +
    'the plan again and compares it with PLAN. The two may differ only in values that change on their own, such as ' +
    'the number of messages in a queue.'
  static override examples = [
    '<%= config.bin %> unlock-changelog -d prod --dry-run --json > plan.json',
    '<%= config.bin %> apply plan.json --confirm prod',
  ]
  static override args = {
    plan: Args.string({ ignoreStdin: true, description: 'FILE, or - for standard input', required: true }),
  }
  static override flags = { confirm, patience, relay, 'accept-risk': acceptRisk, ...quietFlag }

  override async run(): Promise<void> {
    const { flags: given, args, raw } = await this.parse(Apply)
    const saved = await savedPlan(args.plan, given.deployment, isTyped(raw, 'deployment'))
    const { repair, options, deployment } = saved
    const wish = { repair: repairs[repair], options, saved, words: process.argv.slice(2), version: this.config.version }
    showPerformed(await runRepair({ ...given, deployment, ...filesOfPlan(saved) }, wish), given)
  }
}
