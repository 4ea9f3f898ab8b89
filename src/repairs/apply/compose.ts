import { AdminError } from '../../core/error.ts'
import type { Step } from '../../core/plan.ts'
import type { Repair } from '../../core/repair.ts'
import type { ServiceImage } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { lookAtService } from '../service/look.ts'
import { startStep, stopStep } from '../service-steps.ts'
import { needed } from './surroundings.ts'
import type { Surroundings } from './surroundings.ts'

type Draft = Awaited<ReturnType<Repair['plan']>>

/** The edit of a compose file, and the restart in which the service's container is made anew. `name`: the image's, as it is to be. */
export async function withRestart(draft: Draft, file: string, name: string, { sources, deployment }: Surroundings): Promise<Draft> {
  const service = needed(sources.service)
  const [seen, image] = await Promise.all([lookAtService({ ...sources, service }, deployment), service.image()])
  refuseOtherFile(file, image, deployment.name)
  const target = { ...draft.target, service: seen.target }
  // made anew already, or as it is to be from the start
  if (draft.steps.length === 0 && image.name === name) return { ...draft, target }
  const runs = seen.status.state === 'running' || seen.status.startsAgain === true
  const stop = stopStep(seen.status)
  const start: Step = { ...startStep(), action: { kind: 'start-service', stopsOnUndo: true } }
  return {
    ...draft,
    target,
    impact: { ...draft.impact, ...(runs ? { serviceRestarts: 1 } : { serviceStarts: 1 }) },
    notes: [...draft.notes, ...seen.notes, `an image that this machine does not have is fetched while the service is stopped; this fetches it before: ${fetching(file, draft, name)}`],
    risks: [...draft.risks, ...seen.risks],
    steps: [stop, ...draft.steps, start],
    verifiedBy: ['service/running', 'api/reachable'],
  }
}

/** The image as the file names it with variables is not known by its whole name here. */
function fetching(file: string, { steps }: Draft, name: string): string {
  const edits = steps.flatMap(({ action }) => (action.kind === 'edit-values' ? action.edits : []))
  const [to = null] = edits.map((it) => it.to)
  return to === null || to.includes('$') ? `docker pull IMAGE, with ${name} as its name` : typed(['docker', 'pull', to])
}

/** Throws REFUSED where the service is not started by that file. */
function refuseOtherFile(file: string, { files }: ServiceImage, deployment: string): void {
  if (files?.includes(file)) return
  const whose = files === undefined || files.length === 0 ? 'is not known to be started by any file' : `is started by ${files.join(', ')}`
  throw new AdminError('REFUSED', `deployment \`${deployment}\` ${whose}, and not by ${file}: nothing was changed`, files?.map((it) => `--compose ${typed([it])}`) ?? ['the same command without --apply   # edits the file alone'])
}
