import { BaseCommand } from '../../cli/base-command.ts'
import { changeService } from '../../cli/repair/change-service.ts'
import { repairFlags } from '../../cli/repair/flags.ts'

export default class ServiceStart extends BaseCommand {
  static override summary = 'Start the service and wait until it answers'
  static override description =
    'Returns when the service answers, or, if its address is unknown, when it runs. Does nothing if the service ' +
    'already runs.'
  static override examples = [
    '<%= config.bin %> service start -d prod',
    '<%= config.bin %> service start -d prod --confirm prod',
  ]
  static override flags = repairFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(ServiceStart)
    await changeService('service-start', flags, this.config.version)
  }
}
