import type { Deployment } from '../../core/deployment.ts'
import { firstLegacyBuild } from '../../knowledge/builds.ts'

/** What is typed to have the other image: the containers of a project know their compose file, else the file of settings is edited wherever it lies. */
export function legacyImageCommand({ platform }: Pick<Deployment, 'platform'>, { tooOld = false, revert = false } = {}): string {
  const wish = `${tooOld ? ` --build ${firstLegacyBuild.label}` : ''}${revert ? ' --revert' : ''}`
  if (platform === 'compose') return `testops-admin use-legacy-image -d {deployment}${wish} --apply`
  return `testops-admin use-legacy-image --values FILE${wish}   # the Helm values${platform === 'kubernetes' ? '' : '; --compose for a compose file'}`
}
