import { BaseCommand } from '../cli/base-command.ts'
import { interruptible } from '../cli/interrupt.ts'
import { deploymentsText } from '../output/deployments.ts'
import type { DeploymentsDocument } from '../output/deployments.ts'

export default class Deployments extends BaseCommand {
  static override summary = 'List the deployments that commands can use'
  static override description =
    'Lists the deployments of the configuration and where it is. Without a configuration, lists what is found on ' +
    'this machine or from it. Lists the practice deployment too, while it is up.\n\n' +
    'A deployment whose entry is wrong is listed with the reason.'
  static override examples = ['<%= config.bin %> deployments', '<%= config.bin %> deployments --json']

  override async run(): Promise<void> {
    const { flags } = await this.parse(Deployments)
    const { knownDeployments } = await import('../runtime/index.ts')
    const { deployments, chosenBy, missing } = await interruptible(async (signal) =>
      knownDeployments({ file: flags.config, environment: process.env, workingDirectory: process.cwd(), signal }),
    )
    const document: DeploymentsDocument = {
      schemaVersion: 1,
      deployments: deployments.map(({ error, ...rest }) => ({
        ...rest,
        ...(error && {
          error: { code: error.code, message: error.message, suggestions: [...error.suggestions] },
        }),
      })),
      ...(chosenBy && { chosenBy }),
      ...(missing && { missing }),
    }
    this.show(flags, document, deploymentsText)
  }
}
