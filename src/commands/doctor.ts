import { Flags } from '@oclif/core'
import { checks } from '../checks/index.ts'
import { BaseCommand } from '../cli/base-command.ts'
import { relayFlag } from '../cli/relay.ts'
import { examineAs } from '../cli/doctor/examine-as.ts'
import { formats } from '../cli/doctor/print.ts'
import { selectChecks } from '../cli/doctor/select-checks.ts'

export default class Doctor extends BaseCommand {
  static override summary = 'Find what is wrong with a deployment'
  static override description =
    'Runs all checks at once and tells causes from consequences. Changes nothing.\n\n' +
    'Exit 0 if the deployment is healthy, 1 for a problem, 2 for warnings only, 3 if something could not be checked, ' +
    '6 if interrupted, 64 for wrong usage or configuration.'
  static override examples = [
    { description: 'examine the deployment that the configuration names', command: '<%= config.bin %> doctor' },
    {
      description: 'the practice deployment, without two checks',
      command: '<%= config.bin %> doctor -d lab --skip api/latency service/clocks',
    },
    { description: 'one part only, for a script', command: '<%= config.bin %> doctor --only broker --json' },
    {
      description: 'after a restart, wait until it is healthy',
      command: '<%= config.bin %> doctor --wait --wait-seconds 600',
    },
  ]
  static override flags = {
    only: Flags.string({
      summary: 'Run only these checks; a group such as `broker` means all its checks',
      helpValue: 'ID',
      multiple: true,
      delimiter: ',',
    }),
    skip: Flags.string({ summary: 'Skip these checks', helpValue: 'ID', multiple: true, delimiter: ',' }),
    'fail-on': Flags.option({
      options: ['warning', 'error', 'unknown'] as const,
      summary: '`error`: exit 0 instead of 2 and 3; `unknown`: exit 1 instead of 3',
      default: 'warning',
    })(),
    format: Flags.option({
      options: formats,
      summary: 'Choose the output format; `json` is the same as --json',
      default: 'table',
    })(),
    wait: Flags.boolean({ summary: 'Repeat until the exit code is 0 or the time is up', exclusive: ['watch'] }),
    'wait-seconds': Flags.integer({
      summary: 'Stop --wait after this time',
      helpValue: 'SECONDS',
      min: 1,
      default: 300,
    }),
    watch: Flags.boolean({ summary: 'Repeat until Ctrl-C; exit with the code of the last report' }),
    relay: relayFlag,
    interval: Flags.integer({
      summary: 'Pause this long between two rounds of --wait and --watch',
      helpValue: 'SECONDS',
      min: 1,
      default: 5,
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    const chosen = selectChecks(checks, flags.only ?? [], flags.skip ?? [])
    const exitCode = await examineAs(flags, chosen)
    // already set if the report could not be written
    process.exitCode ??= exitCode
  }
}
