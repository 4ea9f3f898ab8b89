import type { Deployment } from '../../core/deployment.ts'
import { firstLegacyBuild } from '../../knowledge/builds.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** What is typed to have the other image: the containers of a project know their compose file, else the file of settings is edited wherever it lies. */
export function legacyImageCommand({ platform }: Pick<Deployment, 'platform'>, { tooOld = false, revert = false } = {}): ShellCommand {
  const wish = command`${nested(tooOld ? command` --build ${firstLegacyBuild.label}` : '')}${nested(revert ? ' --revert' : '')}`
  if (platform === 'compose') return command`testops-admin use-legacy-image -d {deployment}${nested(wish)} --apply`
  return command`testops-admin use-legacy-image --values FILE${nested(wish)}   # the Helm values${nested(platform === 'kubernetes' ? '' : '; --compose for a compose file')}`
}
