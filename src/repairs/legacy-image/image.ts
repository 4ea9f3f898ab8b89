import { AdminError } from '../../core/error.ts'
import type { Risk } from '../../core/plan.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ValueLook } from '../../core/sources.ts'
import { images } from '../../knowledge/images.ts'
import { firstLegacyBuild, isAtLeast, parseBuild } from '../../knowledge/builds.ts'

/** An image as a compose file writes it, split around its name. */
export interface ImageText {
  /** Registry and repository, including the final slash */
  before: string
  name: string
  /** Without the colon; null: no tag */
  tag: string | null
  /** Without the `@`; null: no digest */
  digest: string | null
}

/** Splits an image; null if the name itself is, or may be, in a variable. `${…}` may contain slashes and colons. */
export function parseImage(text: string): ImageText | null {
  // one NUL for each character of a variable keeps all positions
  const masked = text.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}|\$\w+/g, (variable) => '\0'.repeat(variable.length))
  const slash = masked.lastIndexOf('/')
  const [, name = '', tagged, digested] = /^([^:@]*)(:[^@]*)?(@.*)?$/.exec(masked.slice(slash + 1)) ?? []
  if (name === '' || name.includes('\0')) return null
  const end = slash + 1 + name.length
  const tagEnd = end + (tagged?.length ?? 0)
  return {
    before: text.slice(0, slash + 1),
    name,
    tag: tagged === undefined ? null : text.slice(end + 1, tagEnd),
    digest: digested === undefined ? null : text.slice(tagEnd + 1),
  }
}

export function imageText({ before, name, tag, digest }: ImageText): string {
  return `${before}${name}${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`
}

/** Returns the one variable that forms the whole tag, and its default; null if the tag is anything else. */
export function variableOf(tag: string): { name: string; otherwise: string | null } | null {
  const [, bare, braced, otherwise] =
    /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^{}$]*)|:?\?[^{}]*)?\})$/.exec(tag) ?? []
  const name = bare ?? braced
  return name === undefined ? null : { name, otherwise: otherwise ?? null }
}

/** Returns the error for an image built on this machine: its name does not show what is in it. */
export function built(service: string): AdminError {
  return new AdminError(
    'REFUSED',
    `the image of service ${service} is built on this machine (\`build\`), so the image name does not show ` +
      'what the image contains. Nothing was changed',
    ['change FROM in the Dockerfile, then build the image again'],
  )
}

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
    throw new AdminError(
      'USAGE',
      `--build ${asked.build} is not a valid build. Write a build such as ${firstLegacyBuild.label}`,
      [asked.again('--build', firstLegacyBuild.label)],
    )
  }
  if (asked.revert) return null
  if (build === null) {
    const said =
      declared === null ? `${where} has no version` : `version ${declared} in ${where} does not show the build`
    return {
      name: 'unknown-build',
      message:
        `${said}. Builds before ${firstLegacyBuild.label} have no image ${images.legacy}, so with an earlier ` +
        'build the service would not start',
      proof: [
        command`${nested(asked.again('--build', firstLegacyBuild.label))}   # sets the version too; a later build also
          works`,
      ],
    }
  }
  if (isAtLeast(build, firstLegacyBuild)) return null
  const whose = asked.build === null ? `${where} has version ${build.label}` : `build ${build.label} was requested`
  throw new AdminError(
    'REFUSED',
    `${whose}, but builds before ${firstLegacyBuild.label} have no image ${images.legacy}. Nothing was changed`,
    [command`${nested(asked.again('--build', firstLegacyBuild.label))}   # or a later build`],
  )
}

/** Returns a risk for an image that has neither name: it may be a mirror of either. */
export function judgeName(name: string, where: string): Risk | null {
  if (name === images.standard || name === images.legacy) return null
  return {
    name: 'other-image',
    message:
      `the image in ${where} is ${name}, not ${images.standard} or ${images.legacy}. Cannot tell whether the ` +
      'registry has the new image',
    proof: ['check that the registry has the new image'],
  }
}
