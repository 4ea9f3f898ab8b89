import { AdminError } from '../../core/error.ts'
import type { Step } from '../../core/plan.ts'
import type { Repair } from '../../core/repair.ts'
import { command, sentence } from '../../core/shell-command.ts'
import type { EditedFile, ServiceSource, ValueEdit, WantedImage } from '../../core/sources.ts'
import { built } from '../legacy-image/built.ts'
import { imageText, parseImage } from '../legacy-image/image-name.ts'

type Draft = Awaited<ReturnType<Repair['plan']>>

export function fetchStep({ image, platform }: WantedImage): Step {
  return {
    title: `fetch image ${image}${platform === null ? '' : ` for ${platform}`}, unless this machine has it`,
    action: { kind: 'fetch-image', image, platform },
    interrupts: false,
  }
}

/**
 * Returns the image with which the draft's edit recreates the service, variables filled in, as the compose program sees
 * it. `name`: the expected image name. Throws REFUSED if the edit results in another image or changes more; otherwise
 * as `ServiceSource.composed`.
 */
export async function imageToFetch(
  { steps }: Draft,
  { service, name }: { service: string; name: string },
  source: ServiceSource,
): Promise<WantedImage> {
  const [edited = null] = steps.flatMap(({ action }): EditedFile[] =>
    action.kind === 'edit-values' ? [{ file: action.file, edits: action.edits }] : [],
  )
  const { now, then, platform, isBuilt, others } = await composedOf(source, edited)
  if (isBuilt) throw built(service)
  if (others.length > 0) {
    throw new AdminError(
      'REFUSED',
      `this edit would also change ${others.slice(0, 5).join(', ')}. Nothing was changed`,
      [sentence`give ${service} an \`image\` of its own first`],
    )
  }
  const wanted = now === null ? null : expected(now, edited?.edits[0], name)
  if (wanted !== null && (then === undefined || then === wanted)) return { image: wanted, platform }
  const is = then ?? now
  throw new AdminError(
    'REFUSED',
    `with this edit, compose would start ${service} with ${is == null ? 'an unnamed image' : `image ${is}`}, not with ${wanted ?? name}: another file or a variable overrides it. Nothing was changed`,
    [command`docker compose config ${service}   # what compose makes of the files`],
  )
}

async function composedOf(
  source: ServiceSource,
  edited: EditedFile | null,
): ReturnType<NonNullable<ServiceSource['composed']>> {
  if (source.composed) return source.composed(edited)
  throw new AdminError('NOT_CONFIGURED', 'no compose program starts this deployment: nothing was changed', [
    'the same command without --apply   # edits the file alone',
  ])
}

/** Returns the current image with the edit applied; null if the edit is of another image. */
function expected(now: string, edit: ValueEdit | undefined, name: string): string | null {
  const is = parseImage(now)
  if (is === null || edit === undefined) return is?.name === name ? now : null
  const [from, to] = [parseImage(edit.from ?? ''), parseImage(edit.to ?? '')]
  if (from?.name !== is.name || to?.name !== name) return null
  return imageText({ ...is, name, tag: to.tag === from.tag ? is.tag : to.tag })
}
