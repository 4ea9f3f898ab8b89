import { listed } from '../../core/format.ts'
import { AdminError } from '../../core/error.ts'
import type { ChartPlace } from '../../core/sources.ts'
import type { Effect } from '../files/effect.ts'
import { imageText, parseImage } from './image-name.ts'

/** What is to become of the service's image. */
export interface ImageChange {
  from: string
  to: string
  /** null: its tag stays */
  build: string | null
}

/**
 * Throws REFUSED where an image would change in more than its name (and its tag, where one was asked for), or no image
 * would, or another service's.
 */
export function refuseOtherImages({ images }: Effect, { from, to, build }: ImageChange, { chart }: ChartPlace): void {
  const isMeant = (was: string, is: string): boolean => {
    const parts = parseImage(was)
    return (
      parts !== null &&
      parts.name === from &&
      parts.digest === null &&
      imageText({ ...parts, name: to, tag: build ?? parts.tag }) === is
    )
  }
  const others = images.filter(({ was, is }) => !isMeant(was, is))
  if (others.length > 0) {
    const shown = others.map(({ at, was, is }) => `${at}: ${was} to ${is}`)
    throw new AdminError(
      'REFUSED',
      `with these values, chart ${chart} changes other images, or more than the image name: ${listed(shown, 5)}. Nothing was changed`,
      ['--chart CHART   # if it is another chart', "set the service's own image by hand, and leave the others"],
    )
  }
  if (images.length > 0) return
  throw new AdminError(
    'REFUSED',
    `with these values, chart ${chart} renders the same images as before. Nothing was changed`,
    ['--chart CHART   # if it is another chart'],
  )
}
