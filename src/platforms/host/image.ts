import type { ServiceImage } from '../../core/sources.ts'
import type { HostSettings } from './settings.ts'

/** What the configuration declares to run, `registry:5000/repository/name:tag@digest` taken apart. */
export function declaredImage({ image, build, declaredIn }: HostSettings): ServiceImage {
  const whole = image?.split('@')[0] ?? ''
  const last = whole.split('/').at(-1) ?? ''
  const [name, tag] = last.split(':')
  return {
    ...(name && { registry: whole.slice(0, whole.length - last.length) }),
    name: name || null,
    tag: tag || null,
    build,
    declaredIn,
  }
}
