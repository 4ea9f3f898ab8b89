import { AdminError } from '../../core/error.ts'
import type { Step } from '../../core/plan.ts'
import type { Repair } from '../../core/repair.ts'
import type { FilesSource, ServiceImage } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { lookAtService } from '../service/look.ts'
import { startStep, stopStep } from '../service-steps.ts'
import { needed } from './surroundings.ts'
import type { Surroundings } from './surroundings.ts'
import { command } from '../../core/shell-command.ts'
import { fetchStep, imageToFetch } from './image-to-fetch.ts'

type Draft = Awaited<ReturnType<Repair['plan']>>

/** The image of a compose service that an edit changes, and its new name. */
interface Edited {
  file: string
  service: string
  name: string
}

/**
 * Adds to the edit of a compose file: fetching the new image before anything stops, and the restart that recreates the
 * service's container.
 */
export async function withRestart(
  draft: Draft,
  { file, service: edited, name }: Edited,
  files: FilesSource,
  { sources, deployment }: Surroundings,
): Promise<Draft> {
  const service = needed(sources.service)
  const [seen, image] = await Promise.all([lookAtService({ ...sources, service }, deployment), service.image()])
  refuseOtherFile(file, image, deployment.name)
  refuseOtherService(edited, image, deployment.name)
  await refuseOverridden(file, edited, image, files)
  const target = { ...draft.target, service: seen.target }
  // the container was recreated already, or had the image from the start
  if (draft.steps.length === 0 && image.name === name) return { ...draft, target }
  const runs = seen.status.state === 'running' || seen.status.startsAgain === true
  const fetched = await imageToFetch(draft, { service: edited, name }, service)
  const isHere = (await service.hasImage?.(fetched)) === true
  const stop = stopStep(seen.status)
  const start: Step = { ...startStep(), action: { kind: 'start-service', stopsOnUndo: true } }
  return {
    ...draft,
    target,
    impact: { ...draft.impact, ...(runs ? { serviceRestarts: 1 } : { serviceStarts: 1 }) },
    notes: [
      ...draft.notes,
      ...seen.notes,
      isHere
        ? `image ${fetched.image} is already on this machine and is not fetched again`
        : `image ${fetched.image} is fetched while the service still runs. It stays on this machine, even after an undo`,
    ],
    risks: [...draft.risks, ...seen.risks, ...seen.startRisks],
    steps: [fetchStep(fetched), stop, ...draft.steps, start],
    verifiedBy: ['service/running', 'api/reachable'],
  }
}

/** Throws REFUSED if the file does not start the service. */
function refuseOtherFile(file: string, { files }: ServiceImage, deployment: string): void {
  if (files?.includes(file)) return
  const why =
    files === undefined || files.length === 0
      ? `cannot tell whether ${file} starts deployment \`${deployment}\`: its compose files are unknown`
      : `deployment \`${deployment}\` is started by ${files.join(', ')}, not by ${file}`
  throw new AdminError(
    'REFUSED',
    `${why}. Nothing was changed`,
    files?.map((it) => command`--compose ${it}`) ?? ['the same command without --apply   # edits the file alone'],
  )
}

/** Throws REFUSED if another service than the edited one would restart. */
function refuseOtherService(edited: string, { service }: ServiceImage, deployment: string): void {
  if (service === undefined || service === edited) return
  throw new AdminError(
    'REFUSED',
    `deployment \`${deployment}\` is service ${service}, not ${edited}. Nothing was changed`,
    [typed(['--service', service])],
  )
}

/** Throws REFUSED if a later file of the service sets its image: an edit before it has no effect. */
async function refuseOverridden(
  file: string,
  service: string,
  { files: all = [] }: ServiceImage,
  files: FilesSource,
): Promise<void> {
  for (const later of all.slice(all.indexOf(file) + 1)) {
    const { text } = await files.look(later, ['services', service, 'image'])
    if (text !== null)
      throw new AdminError(
        'REFUSED',
        `${later} also sets the image of ${service} and overrides ${file}. Nothing was changed`,
        [typed(['--compose', later])],
      )
  }
}
