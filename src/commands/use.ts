import { Args } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { AdminError } from '../core/error.ts'
import { typed } from '../core/typed.ts'
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
    if (/^lab(-owner|-guest)?$/.test(args.name)) await this.refuseLab(args.name, request)
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

  /** The practice deployment stands in no configuration, unless the operator's own has one of that name. */
  private async refuseLab(name: string, request: Parameters<typeof knownHere>[0]): Promise<void> {
    if (await knownHere(request, name)) return
    throw new AdminError('USAGE', `\`${name}\` is the practice deployment, which no configuration can choose`, [
      typed(['export', `TESTOPS_ADMIN_DEPLOYMENT=${name}`]),
    ])
  }
}

async function knownHere(
  request: { file: string | undefined; environment: NodeJS.ProcessEnv; workingDirectory: string },
  name: string,
): Promise<boolean> {
  const { knownDeployments } = await import('../runtime/index.ts')
  return (await knownDeployments(request)).some((it) => it.name === name && it.source === 'configuration')
}
