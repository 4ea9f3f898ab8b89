import type { Found } from '../../platforms/index.ts'
import type { DeploymentSettings } from './schema.ts'

/** What a configuration would say of a deployment that was found. */
export function settingsOf({ place, what }: Found): DeploymentSettings {
  switch (place.platform) {
    case 'host':
      return { platform: 'host', host: { unit: place.unit } }
    case 'compose': {
      const file = place.file === null ? {} : { file: { path: place.file, at: what } }
      return { platform: 'compose', compose: { project: place.project, service: place.service, ...file } }
    }
    case 'kubernetes': {
      const context = place.context === null ? {} : { context: place.context }
      return { platform: 'kubernetes', kubernetes: { ...context, namespace: place.namespace, release: place.release } }
    }
  }
}
