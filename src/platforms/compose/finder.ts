import { images } from '../../knowledge/images.ts'
import type { Finder } from '../found.ts'
import { findEngine } from './engine.ts'
import { findServices } from './find.ts'

/** Finds compose projects whose service runs the product, among containers and in the compose file of the folder. */
export const findComposeProjects: Finder = async ({ folder, ...options }) => {
  const engine = await findEngine(options)
  if (engine === null) return { found: [], looked: 'no docker or podman is installed' }
  const services = await findServices(engine, { project: null, service: null, file: null, folder }, options.environment)
  const projects = services.map(({ project }) => project)
  return {
    found: services.map(({ project, service, image, files, isDeclaredOnly }) => ({
      // the name tells several services of one project apart
      name: projects.indexOf(project) === projects.lastIndexOf(project) ? project : `${project}-${service}`,
      what: `compose project \`${project}\` (service ${service}, image ${image}${isDeclaredOnly ? `, only in ${files?.files.join(', ')} so far` : ''})`,
      // one file cannot stand for several: they are found again from this folder
      place: {
        platform: 'compose',
        project,
        service,
        file: isDeclaredOnly && files?.files.length === 1 ? files.files[0]! : null,
      },
    })),
    looked: `no container of ${engine.program}, and no compose file in ${folder} or above, has the image ${images.standard} or ${images.legacy}`,
  }
}
