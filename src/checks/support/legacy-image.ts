import type { Deployment } from '../../core/deployment.ts'
import { firstLegacyBuild } from '../../knowledge/builds.ts'

/** What is typed to have the other image, where the deployment's file of settings is: it is edited wherever it lies, without the deployment. */
export function legacyImageCommand({ platform }: Pick<Deployment, 'platform'>, { tooOld = false, revert = false } = {}): string {
  const file = platform === 'compose' ? '--compose FILE' : '--values FILE'
  const where = platform === 'compose' ? 'the compose file' : platform === 'kubernetes' ? 'the Helm values' : 'the Helm values; --compose for a compose file'
  return `testops-admin use-legacy-image ${file}${tooOld ? ` --build ${firstLegacyBuild.label}` : ''}${revert ? ' --revert' : ''}   # ${where}`
}
