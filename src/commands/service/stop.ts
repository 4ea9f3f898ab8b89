import { RepairCommand, changeService } from '../../cli/repair/repair-command.ts'
import type { Repaired } from '../../cli/repair/repair-command.ts'
import { repairFlags } from '../../cli/repair/flags.ts'

export default class ServiceStop extends RepairCommand {
  static override summary = 'Stop the service and wait until it is gone'
  static override description =
    'Returns when the service and its processes are gone. The service stays stopped until `service start` or ' +
    '`undo`.\n\n' +
    'Exit 4 if the service is migrating its database, because a stop during the migration leaves the change-log ' +
    'lock behind. Override with --accept-risk running-migration.'
  static override examples = [
    '<%= config.bin %> service stop -d prod',
    '<%= config.bin %> service stop -d prod --confirm prod',
  ]
  static override flags = repairFlags

  override async repair(): Promise<Repaired> {
    const { flags } = await this.parse(ServiceStop)
    return changeService('service-stop', flags, this)
  }
}
