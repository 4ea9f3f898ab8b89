import { AdminError } from '../../core/error.ts'
import type { Risk } from '../../core/plan.ts'
import type { ValueLook } from '../../core/sources.ts'
import { firstLegacyBuild, isAtLeast, parseBuild } from '../../knowledge/builds.ts'
import { images } from '../../knowledge/images.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** The request, as far as the image's name depends on it. */
export interface Asked {
  revert: boolean
  /** The value of --build */
  build: string | null
  /** With --apply: the edit takes effect within the same run */
  isApplied: boolean
  /** Returns the same command with more words, for people */
  again: (...more: string[]) => ShellCommand
}

/** Returns the name that the image must have. */
export function wantedName({ revert }: Asked): string {
  return revert ? images.standard : images.legacy
}

/**
 * Judges whether the build has such an image. `declared`: the version in the file, null for none; `where`: its place.
 * Throws REFUSED for a build before the first one with the image, USAGE for an invalid --build.
 */
export function judgeBuild(
  asked: Asked,
  { text: declared, isText }: Pick<ValueLook, 'text' | 'isText'>,
  where: string,
): Risk | null {
  // YAML reads an unquoted version as a number and changes it: 5.30 becomes 5.3
  const build = parseBuild(asked.build ?? (isText ? declared : null) ?? '')
  if (asked.build !== null && build === null) {
    throw new AdminError('USAGE', `--build ${asked.build} is not a build: write it like ${firstLegacyBuild.label}`, [
      asked.again('--build', firstLegacyBuild.label),
    ])
  }
  if (asked.revert) return null
  if (build === null) {
    const said =
      declared === null ? `${where} names no version` : `version ${declared} in ${where} cannot be read as a build`
    return {
      name: 'unknown-build',
      message: `${said}. Image ${images.legacy} exists since build ${firstLegacyBuild.label}, and with an earlier build the service would not start`,
      proof: [
        command`${nested(asked.again('--build', firstLegacyBuild.label))}   # or a later build: sets the version too`,
      ],
    }
  }
  if (isAtLeast(build, firstLegacyBuild)) return null
  const whose = asked.build === null ? `${where} has version ${build.label}` : `build ${build.label} was requested`
  throw new AdminError(
    'REFUSED',
    `${whose}, but image ${images.legacy} exists only since build ${firstLegacyBuild.label}. Nothing was changed`,
    [command`${nested(asked.again('--build', firstLegacyBuild.label))}   # or a later build`],
  )
}

/** Returns a risk for an image that has neither name: it may be a mirror of either. */
export function judgeName(name: string, where: string): Risk | null {
  if (name === images.standard || name === images.legacy) return null
  return {
    name: 'other-image',
    message: `the image in ${where} is ${name}, which is neither ${images.standard} nor ${images.legacy}. Cannot tell whether the registry has the other one`,
    proof: ['check that the registry has the new image'],
  }
}
