import { Flags } from '@oclif/core'
import { BaseCommand, quietFlag } from '../cli/base-command.ts'
import { runPreflight } from '../cli/preflight.ts'
import { preflightText } from '../output/preflight.ts'

export default class Preflight extends BaseCommand {
  static override summary = 'Find what stands in the way of an upgrade'
  static override description =
    'Checks whether this deployment is ready for another version of the service, and of RabbitMQ: backup, ' +
    'change-log lock, room for the database, queues, image, processors, trees and probes. Prints the steps in their ' +
    'order. Changes nothing.\n\n' +
    'Exit 0 if the deployment is ready, 1 if something stands in the way, 2 for warnings only, 3 if something could ' +
    'not be found out, 64 for wrong usage.'
  static override examples = [
    {
      description: 'Before an upgrade of the service, an hour after the backup',
      command: '<%= config.bin %> preflight -d prod --to 527u01 --backup-taken 1h',
    },
    {
      description: 'Before an upgrade of RabbitMQ with the service',
      command: '<%= config.bin %> preflight -d prod --to 527u01 --broker 4.3.0 --backup-taken 1h',
    },
    {
      description: 'Judge the values that the upgrade will be made with',
      command: '<%= config.bin %> preflight -d prod --to 527u01 --values values.yaml --backup-taken 1h',
    },
  ]
  static override flags = {
    to: Flags.string({
      summary: 'Upgrade the service to this build or version: 527u01, 5.27',
      helpValue: 'BUILD',
      required: true,
    }),
    broker: Flags.string({ summary: 'Upgrade RabbitMQ to this version, too', helpValue: 'VERSION' }),
    'backup-taken': Flags.string({
      summary: 'Say when the last backup of the database was made: 2h (2 hours ago), or 2026-11-22T10:30',
      helpValue: 'TIME',
    }),
    'database-free': Flags.string({
      summary: "Say how much is free on the database's disk, if it is on another machine: 20GB",
      helpValue: 'SIZE',
    }),
    values: Flags.string({
      summary: 'Judge the service as this Helm values file will make it. Name several in the order of helm',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    path: Flags.string({
      summary: "In the values of an umbrella chart, look for this chart's values under KEY.PATH",
      helpValue: 'KEY.PATH',
      dependsOn: ['values'],
    }),
    ...quietFlag,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Preflight)
    const { document, exitCode } = await runPreflight(flags)
    this.show(flags, document, (shown, screen) => preflightText(shown, { screen, exitCode, verbose: flags.verbose }))
    process.exitCode ??= exitCode
  }
}
