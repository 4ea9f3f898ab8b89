import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { ownCommand } from '../core/package-parts.ts'

export default class Mcp extends BaseCommand {
  static override summary = 'Let an AI assistant diagnose a deployment'
  static override description =
    'Serves tools to a client of the Model Context Protocol on standard input and output: doctor, explain, ' +
    'scan_logs, preflight, history, and plan for every repair. No tool changes anything: a plan names the command ' +
    'that a person types to carry it out.\n\n' +
    'What a tool reads goes to the client, and from there to its language model. Known secrets are removed.\n\n' +
    'Runs until the client closes standard input, or until Ctrl-C.'
  static override examples = [
    { description: 'The command for the configuration of a client', command: '<%= config.bin %> mcp -d prod' },
    {
      description: 'Let the tools also read the logs and values files in a folder',
      command: '<%= config.bin %> mcp -d prod --files /srv/testops',
    },
  ]
  static override flags = {
    files: Flags.string({
      summary: 'Let the tools read files in this folder: logs, Helm values, compose files',
      helpValue: 'DIR',
      multiple: true,
      multipleNonGreedy: true,
    }),
    deadline: Flags.integer({
      summary: 'Stop a call that takes longer',
      helpValue: 'SECONDS',
      min: 1,
      max: 3600,
      default: 120,
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Mcp)
    // loaded late: the SDK is a tenth of this program
    const { serveTools } = await import('../cli/mcp/serve.ts')
    await serveTools({ ...flags, version: this.config.version, command: ownCommand() })
  }
}
