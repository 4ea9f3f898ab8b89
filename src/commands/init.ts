import { BaseCommand } from '../cli/base-command.ts'
import { initFlags } from '../cli/init/flags.ts'
import { runInit } from '../cli/init/run-init.ts'
import { initExitCode, initText } from '../output/init.ts'

export default class Init extends BaseCommand {
  static override summary = 'Find a deployment and write its configuration'
  static override description =
    'Looks for units of systemd, Java processes, compose projects and the current cluster, asks on a terminal for what cannot be found, tries every part, and writes a ' +
    'configuration that names secrets by where they are kept. A file that is there is never overwritten. Answers are kept until it is written. Ends with 0 where every ' +
    'part that is known answers, with 3 where one does not.'
  static override examples = [
    '<%= config.bin %> init',
    {
      description: 'without a terminal',
      command: '<%= config.bin %> init --platform host --unit testops --url https://testops.example.org --api-token env:TESTOPS_TOKEN --output /etc/testops-admin.yaml',
    },
  ]
  static override flags = initFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(Init)
    const document = await runInit(flags, (message) => this.progress(message))
    this.show(flags, document, (document, screen) => initText(document, screen))
    process.exitCode ??= initExitCode(document)
  }
}
