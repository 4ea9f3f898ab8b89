import { RepairCommand, changeService } from '../../cli/repair/repair-command.ts'
import type { Repaired } from '../../cli/repair/repair-command.ts'
import { repairFlags } from '../../cli/repair/flags.ts'

export default class ServiceStart extends RepairCommand {
  static override summary = 'Start the service and wait until it answers'
  static override description =
    "Returns when the service answers. If testops-admin does not know the service's address, returns when the " +
    'service is running. Does nothing if the service is already running.'
  static override examples = [
    '<%= config.bin %> service start -d prod',
    '<%= config.bin %> service start -d prod --confirm prod',
  ]
  static override flags = repairFlags

  override async repair(): Promise<Repaired> {
    const { flags } = await this.parse(ServiceStart)
    return changeService('service-start', flags, this)
  }
}
