import { RepairCommand, changeService } from '../../cli/repair/repair-command.ts'
import type { Repaired } from '../../cli/repair/repair-command.ts'
import { repairFlags } from '../../cli/repair/flags.ts'

export default class ServiceRestart extends RepairCommand {
  static override summary = 'Restart the service and wait until it answers'
  static override description =
    'If the service is stopped, only starts it.\n\n' +
    'Exit 4 if the service is migrating its database, because a stop during the migration leaves the change-log ' +
    'lock behind. Override with --accept-risk running-migration.'
  static override examples = [
    '<%= config.bin %> service restart -d prod',
    '<%= config.bin %> service restart -d prod --confirm prod',
  ]
  static override flags = repairFlags

  override async repair(): Promise<Repaired> {
    const { flags } = await this.parse(ServiceRestart)
    return changeService('service-restart', flags, this)
  }
}
