import { BaseCommand } from '../../cli/base-command.ts'
import { changeService } from '../../cli/repair/change-service.ts'
import { repairFlags } from '../../cli/repair/flags.ts'

export default class ServiceStop extends BaseCommand {
  static override summary = 'Stop the service and wait until it is gone'
  static override description =
    'Returns when the service and its processes are gone. The service stays stopped until `service start` or `undo`.\n\n' +
    'Exit 4 while the service migrates its database, because a stop then leaves the change-log lock behind. Override ' +
    'with --accept-risk running-migration.'
  static override examples = [
    '<%= config.bin %> service stop -d prod',
    '<%= config.bin %> service stop -d prod --confirm prod',
  ]
  static override flags = repairFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(ServiceStop)
    await changeService('service-stop', flags, this.config.version)
  }
}
