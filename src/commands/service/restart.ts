import { BaseCommand } from '../../cli/base-command.ts'
import { changeService } from '../../cli/repair/change-service.ts'
import { repairFlags } from '../../cli/repair/flags.ts'

export default class ServiceRestart extends BaseCommand {
  static override summary = 'Restart the service and wait until it answers'
  static override description =
    'A service that is stopped is started.\n\n' +
    'Refused (exit 4) while the service migrates its database, since that leaves the change-log lock behind, unless ' +
    '`--accept-risk running-migration` is given.'
  static override examples = ['<%= config.bin %> service restart -d prod', '<%= config.bin %> service restart -d prod --confirm prod']
  static override flags = repairFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(ServiceRestart)
    await changeService('service-restart', flags, this.config.version)
  }
}
