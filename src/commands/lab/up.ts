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
    `Starts PostgreSQL, RabbitMQ, Redis and the practice service, writes the configuration for \`-d lab\`, and waits until doctor finds nothing. Run it again to start what is missing.

Where the servers come from: TESTOPS_ADMIN_LAB_SERVERS=given, docker, programs or packages; by default the first that works.`
  static override examples = ['<%= config.bin %> lab up', '<%= config.bin %> lab up --broker 3']
  static override flags = {
    broker: Flags.option({
      options: ['3', '4.3'] as const,
      summary: 'Choose the broker: 3 permits transient queues, 4.3 refuses them (default 4.3)',
    })(),
    port: Flags.integer({
      summary: 'Use this port for the web interface; a free one by default',
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
