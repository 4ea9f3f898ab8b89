import type { Deployment } from '../core/deployment.ts'
import { command, nested } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { typed } from '../core/typed.ts'
import type { ServiceImage } from '../core/sources.ts'
import { traitsOf } from '../knowledge/platforms.ts'
import { images } from '../knowledge/images.ts'
import { editConfiguration } from './by-hand.ts'

/** Which of the two images is wanted. */
export interface ImageWish {
  /** The tag that it must have; absent: the present one */
  build?: string
  revert?: boolean
  /** Flags that name the file of values; absent: the configuration or the operator knows it */
  files?: readonly string[]
}

/**
 * Returns the commands that switch to the other image. The containers of a compose project know their compose file.
 * Elsewhere the file of values is edited, wherever it is. On a plain host, the image is named by the program that runs
 * the service, which only its operator knows.
 */
export function legacyImageCommands(
  deployment: Pick<Deployment, 'platform' | 'editable'>,
  image: ServiceImage,
  { build, revert = false, files }: ImageWish = {},
): Suggestion[] {
  const to = build === undefined ? '' : command` --build ${build}`
  const wish = command`${nested(to)}${nested(revert ? ' --revert' : '')}`
  switch (traitsOf(deployment).image) {
    case 'apply':
      return [command`testops-admin use-legacy-image -d {deployment}${nested(wish)} --apply`]
    case 'values':
      if (files) return [command`testops-admin use-legacy-image ${nested(typed(files))}${nested(wish)}`]
      return deployment.editable?.namesValues
        ? [command`testops-admin use-legacy-image -d {deployment}${nested(wish)}`]
        : [
            '{values}',
            command`testops-admin use-legacy-image --values FILE${nested(wish)}   # FILE: the file in which you keep
              these values`,
          ]
    case 'by-hand':
      return [
        command`docker pull ${imageToRun(image, { ...(build && { build }), revert })}`,
        editConfiguration(deployment),
      ]
  }
}

/** Returns what to do with the fetched image if the service runs on a plain host; empty on other platforms. */
export function runningIt(deployment: Pick<Deployment, 'platform'>, image: ServiceImage, wish: ImageWish): string {
  if (traitsOf(deployment).image !== 'by-hand') return ''
  return (
    ` Enter the image \`${imageToRun(image, wish)}\` in the unit or program that starts the service, and as ` +
    `\`image\` in the configuration of testops-admin. Then restart the service.`
  )
}

function imageToRun({ registry = '', tag, build }: ServiceImage, { build: other, revert = false }: ImageWish): string {
  const wanted = other ?? tag ?? build
  return `${registry}${revert ? images.standard : images.legacy}${wanted === null ? '' : `:${wanted}`}`
}
