import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { initFlags } from '../cli/init/flags.ts'
import { runInit } from '../cli/init/run-init.ts'
import { print } from '../cli/write.ts'
import { initExitCode, initText } from '../output/init.ts'

export default class Init extends BaseCommand {
  static override summary = 'Find a deployment and write its configuration'
  static override description =
    'Looks for the service in systemd units, Java processes, compose projects and the current Kubernetes cluster. On ' +
    'a terminal, asks for missing values. Tests whether the service and each of its servers answer, then writes a ' +
    'configuration that says where secrets are kept. Never overwrites a file. If it stops before the file is ' +
    'written, the next `init` for that file offers your answers again.\n\n' +
    'Exit 0 if the service and all its known servers answer, 3 if one does not.'
  static override examples = [
    '<%= config.bin %> init',
    {
      description: 'Without a terminal',
      command:
        '<%= config.bin %> init --platform host --unit testops --url https://testops.example.org --api-token ' +
        'env:TESTOPS_TOKEN --output /etc/testops-admin.yaml',
    },
  ]
  static override flags = {
    template: Flags.boolean({
      summary: 'Print a commented configuration with every key; write nothing',
      exclusive: ['json'],
    }),
    ...initFlags,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Init)
    if (flags.template) {
      const { configurationTemplate } = await import('../runtime/configuration/template.ts')
      return print(process.stdout, configurationTemplate())
    }
    const document = await runInit(flags, (message) => this.progress(message))
    this.show(flags, document, (document, screen) => initText(document, screen))
    process.exitCode ??= initExitCode(document)
  }
}
