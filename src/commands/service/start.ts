import { BaseCommand } from '../../cli/base-command.ts'
import { repairFlags } from '../../cli/repair/flags.ts'
import { runRepair } from '../../cli/repair/run-repair.ts'
import { showPerformed } from '../../cli/repair/show.ts'
import { repairs } from '../../repairs/index.ts'

export default class ServiceStart extends BaseCommand {
  static override summary = 'start the service, and wait until it answers'
  static override description =
    'Returns once the service tells its health, or runs, where it has no API that is known. A service that runs is left alone.'
  static override examples = ['<%= config.bin %> service start -d prod', '<%= config.bin %> service start -d prod --confirm prod']
  static override flags = repairFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(ServiceStart)
    const wish = { repair: repairs['service-start'], options: {}, words: process.argv.slice(2), version: this.config.version }
    showPerformed(await runRepair(flags, wish), flags)
  }
}
