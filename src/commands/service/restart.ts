import { BaseCommand } from '../../cli/base-command.ts'
import { changeService } from '../../cli/repair/change-service.ts'
import { repairFlags } from '../../cli/repair/flags.ts'

export default class ServiceRestart extends BaseCommand {
  static override summary = 'Restart the service and wait until it answers'
  static override description =
    'Starts the service if it is stopped.\n\n' +
    'Exit 4 while the service migrates its database, because a stop then leaves the change-log lock behind. Override ' +
    'with --accept-risk running-migration.'
  static override examples = [
    '<%= config.bin %> service restart -d prod',
    '<%= config.bin %> service restart -d prod --confirm prod',
  ]
  static override flags = repairFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(ServiceRestart)
    await changeService('service-restart', flags, this.config.version)
  }
}
