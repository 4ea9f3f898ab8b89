import { BaseCommand } from '../../cli/base-command.ts'
import { changeService } from '../../cli/repair/change-service.ts'
import { repairFlags } from '../../cli/repair/flags.ts'

export default class ServiceStart extends BaseCommand {
  static override summary = 'Start the service and wait until it answers'
  static override description =
    'Returns once the service tells its health, or runs, where it has no API that is known. A service that runs is left alone.'
  static override examples = ['<%= config.bin %> service start -d prod', '<%= config.bin %> service start -d prod --confirm prod']
  static override flags = repairFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(ServiceStart)
    await changeService('service-start', flags, this.config.version)
  }
}
