import type { ServiceImage } from '../../core/sources.ts'
import { parseBuild } from '../../knowledge/builds.ts'
import { chartContainer } from '../../knowledge/chart.ts'
import { images } from '../../knowledge/images.ts'
import type { Container, PodSpec } from './objects.ts'

/** Returns the name and tag of `registry:5000/repository/name:tag@digest`. */
function partsOf(image: string): { name: string; tag: string | null } {
  const last = image.split('@')[0]?.split('/').at(-1) ?? ''
  const [name = '', tag] = last.split(':')
  return { name, tag: tag || null }
}

/** Returns the last part of an image's name, without registry, tag and digest. */
export function imageNameIn(image: string): string {
  return partsOf(image).name
}

/** Finds the container that runs one of the service's images (SPEC.md 1), whatever its own name; null if none does. */
export function imagedContainer({ containers }: Pick<PodSpec, 'containers'>): Container | null {
  const names: readonly string[] = Object.values(images)
  return containers.find(({ image = '' }) => names.includes(partsOf(image).name)) ?? null
}

/** Returns `imagedContainer`, else the one with the chart's name: a private registry may rename the image. */
export function namedContainer(spec: Pick<PodSpec, 'containers'>): Container | null {
  return imagedContainer(spec) ?? spec.containers.find(({ name }) => chartContainer.test(name)) ?? null
}

/**
 * Returns the service's container in a pod of the service: as `namedContainer`, else the only one. Null if it cannot be
 * told which it is.
 */
export function serviceContainer(spec: Pick<PodSpec, 'containers'>): Container | null {
  return namedContainer(spec) ?? (spec.containers.length === 1 ? spec.containers[0]! : null)
}

export function imageOf({ image = '' }: Container, declaredIn: string): ServiceImage {
  const { name, tag } = partsOf(image)
  return { name: name || null, tag, build: tag === null ? null : (parseBuild(tag)?.label ?? null), declaredIn }
}
