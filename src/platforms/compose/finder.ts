import { images } from '../../knowledge/images.ts'
import type { Finder } from '../found.ts'
import { findEngine } from './engine.ts'
import { findServices } from './find.ts'

/** Compose projects with a service that runs the product, and the compose file here. */
export const findComposeProjects: Finder = async ({ folder, ...options }) => {
  const engine = await findEngine(options)
  if (engine === null) return { found: [], looked: 'no docker or podman is installed' }
  const services = await findServices(engine, { project: null, service: null, file: null, folder }, options.environment)
  const projects = services.map(({ project }) => project)
  return {
    found: services.map(({ project, service, image, files, isDeclaredOnly }) => ({
      // several services of one project are told apart
      name: projects.indexOf(project) === projects.lastIndexOf(project) ? project : `${project}-${service}`,
      what: `compose project \`${project}\` (service ${service}, image ${image}${isDeclaredOnly ? `, only in ${files?.files.join(', ')} so far` : ''})`,
      // of several files none stands for all: they are found again from here
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
