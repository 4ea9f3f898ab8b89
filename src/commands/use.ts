import { Args } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { useText } from '../output/deployments.ts'
import type { UseDocument } from '../output/deployments.ts'

export default class Use extends BaseCommand {
  static override summary = 'Choose the deployment for commands without -d'
  static override description =
    'Sets `current` in the configuration and leaves the rest of the file as it is. -d and TESTOPS_ADMIN_DEPLOYMENT ' +
    'still come first.'
  static override examples = ['<%= config.bin %> use prod', '<%= config.bin %> deployments']
  static override args = {
    name: Args.string({ ignoreStdin: true, required: true, description: 'NAME, as `deployments` lists it' }),
  }

  override async run(): Promise<void> {
    const { flags, args } = await this.parse(Use)
    const { setCurrent } = await import('../runtime/index.ts')
    const request = { file: flags.config, environment: process.env, workingDirectory: process.cwd() }
    const { file, before, isChanged } = await setCurrent(args.name, request)
    const document: UseDocument = {
      schemaVersion: 1,
      deployment: args.name,
      file,
      before,
      outcome: isChanged ? 'done' : 'nothing-to-do',
    }
    this.show(flags, document, useText)
    const { TESTOPS_ADMIN_DEPLOYMENT: named } = process.env
    if (named !== undefined && named !== '' && named !== args.name)
      this.progress(`TESTOPS_ADMIN_DEPLOYMENT is set, so commands use ${named} in this shell.`)
  }
}
