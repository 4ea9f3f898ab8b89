import type { ServiceImage } from '../../core/sources.ts'
import { parseBuild } from '../../knowledge/builds.ts'
import { chartContainer } from '../../knowledge/chart.ts'
import { images } from '../../knowledge/images.ts'
import type { Container, PodSpec } from './objects.ts'

/** `registry:5000/repository/name:tag@digest` taken apart. */
function partsOf(image: string): { name: string; tag: string | null } {
  const last = image.split('@')[0]?.split('/').at(-1) ?? ''
  const [name = '', tag] = last.split(':')
  return { name, tag: tag || null }
}

/** The last part of an image's name, without registry, tag and digest. */
export function imageNameIn(image: string): string {
  return partsOf(image).name
}

/** The container that runs one of the service's images (SPEC.md 1), whatever its own name is; null: none does. */
export function imagedContainer({ containers }: Pick<PodSpec, 'containers'>): Container | null {
  const names: readonly string[] = Object.values(images)
  return containers.find(({ image = '' }) => names.includes(partsOf(image).name)) ?? null
}

/** The same, else the one that is named as the chart names it, whatever a private registry calls its image. */
export function namedContainer(spec: Pick<PodSpec, 'containers'>): Container | null {
  return imagedContainer(spec) ?? spec.containers.find(({ name }) => chartContainer.test(name)) ?? null
}

/**
 * The service's container in a pod that is known to be the service's: the same, else the only one. Null: which it is
 * cannot be told.
 */
export function serviceContainer(spec: Pick<PodSpec, 'containers'>): Container | null {
  return namedContainer(spec) ?? (spec.containers.length === 1 ? spec.containers[0]! : null)
}

export function imageOf({ image = '' }: Container, declaredIn: string): ServiceImage {
  const { name, tag } = partsOf(image)
  return { name: name || null, tag, build: tag === null ? null : (parseBuild(tag)?.label ?? null), declaredIn }
}
