import { BaseCommand, isTyped } from '../cli/base-command.ts'
import { initFlags } from '../cli/init/flags.ts'
import { runInit } from '../cli/init/run-init.ts'
import { initExitCode, initText, templateOutput } from '../output/init.ts'
import { runTemplate, templates } from '../cli/init/template.ts'

export default class Init extends BaseCommand {
  static override summary = 'Find a deployment and write its configuration'
  static override description =
    'Looks for the service in systemd units, Java processes, compose projects and the current Kubernetes cluster. On ' +
    'a terminal, asks for missing values. Tests whether the service and each of its servers answer, then writes a ' +
    'configuration that says where secrets are kept. Never overwrites a file. If it stops before the file is ' +
    'written, the next `init` for that file offers your answers again.\n\n' +
    'Exit 0 if the service and all its known servers answer, 3 if one does not.\n\n' +
    'With --template, renders files with the names of a configured deployment instead. Writes them to the folder in ' +
    '--output, all or none, and never overwrites a file. Without --output, prints a template of one file. No secret ' +
    'is rendered: the files refer to where it is kept. The templates:\n' +
    Object.entries(templates)
      .map(([name, { about }]) => `  ${name}: ${about}`)
      .join('\n')
  static override examples = [
    '<%= config.bin %> init',
    {
      description: 'Without a terminal',
      command:
        '<%= config.bin %> init --platform host --unit testops --url https://testops.example.org --api-token ' +
        'env:TESTOPS_TOKEN --output /etc/testops-admin.yaml',
    },
    {
      description: 'Run doctor in the cluster every 15 minutes',
      command:
        '<%= config.bin %> init --template cronjob -d prod --image registry.example.org/testops-admin:1 ' +
        '--output deploy',
    },
  ]
  static override flags = initFlags

  override async run(): Promise<void> {
    const { flags, raw } = await this.parse(Init)
    if (flags.template !== undefined) {
      const about = { version: this.config.version, isNamed: isTyped(raw, 'deployment') }
      const rendered = await runTemplate(flags.template, flags, about)
      return this.show(flags, rendered, (document, screen) => templateOutput(document, screen))
    }
    const document = await runInit(flags, (message) => this.progress(message))
    this.show(flags, document, (document, screen) => initText(document, screen))
    process.exitCode ??= initExitCode(document)
  }
}
