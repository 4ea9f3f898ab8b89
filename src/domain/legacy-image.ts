import type { Deployment } from '../core/deployment.ts'
import { command, nested } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { ServiceImage } from '../core/sources.ts'
import { traitsOf } from '../knowledge/platforms.ts'
import { firstLegacyBuild } from '../knowledge/builds.ts'
import { images } from '../knowledge/images.ts'
import { editConfiguration } from './by-hand.ts'

/** Which of the two images is wanted, and whether the build is too old to have it. */
export interface ImageWish {
  tooOld?: boolean
  revert?: boolean
}

/**
 * What is typed to have the other image: the containers of a project know their compose file, else the file of values
 * is edited wherever it lies. On a plain host the program that runs the service names its image, and only its operator
 * knows where.
 */
export function legacyImageCommands(
  deployment: Pick<Deployment, 'platform' | 'editable'>,
  image: ServiceImage,
  { tooOld = false, revert = false }: ImageWish = {},
): Suggestion[] {
  const wish = command`${nested(tooOld ? command` --build ${firstLegacyBuild.label}` : '')}${nested(revert ? ' --revert' : '')}`
  switch (traitsOf(deployment).image) {
    case 'apply':
      return [command`testops-admin use-legacy-image -d {deployment}${nested(wish)} --apply`]
    case 'values':
      return deployment.editable?.namesValues
        ? [command`testops-admin use-legacy-image -d {deployment}${nested(wish)}`]
        : [
            '{values}',
            command`testops-admin use-legacy-image --values FILE${nested(wish)}   # the file that they come from`,
          ]
    case 'by-hand':
      return [command`docker pull ${imageToRun(image, { tooOld, revert })}`, editConfiguration(deployment)]
  }
}

/** Where the service is on a plain host, what is done with the image that was fetched. */
export function runningIt(deployment: Pick<Deployment, 'platform'>, image: ServiceImage, wish: ImageWish): string {
  if (traitsOf(deployment).image !== 'by-hand') return ''
  return ` Have the unit or the program that starts the service run \`${imageToRun(image, wish)}\`, write that under \`image\` in the configuration, and restart the service.`
}

function imageToRun(
  { registry = '', tag, build }: ServiceImage,
  { tooOld = false, revert = false }: ImageWish,
): string {
  const wanted = tooOld ? firstLegacyBuild.label : (tag ?? build)
  return `${registry}${revert ? images.standard : images.legacy}${wanted === null ? '' : `:${wanted}`}`
}
