/** A version of the product: a build label `526u03`, or a version such as `5.26` (SPEC.md 9). */
export interface Build {
  major: number
  minor: number
  /** Null for a version without an update, so any build of it */
  update: number | null
  label: string
}

const label = /^v?(\d{2,4})u(\d{1,3})$/i

const version = /^v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?$/

/** First number from which a version is named after its year; how these follow other versions is unknown */
const firstYear = 20

/** True if a text is written as builds are (SPEC.md 9), which no other product does. */
export function isBuildLabel(text: string): boolean {
  return label.test(text.trim())
}

/**
 * Parses `<major><minor>u<nn>` (SPEC.md 9) or `5.26[.3]`; null if the text is neither, such as `25.3.2` of the year
 * 2025.
 */
export function parseBuild(text: string): Build | null {
  const trimmed = text.trim()
  const build = label.exec(trimmed)
  if (build) {
    const digits = build[1]!
    // two digits are 5.9, three 5.26, four 10.26
    const cut = digits.length === 4 ? 2 : 1
    return {
      major: Number(digits.slice(0, cut)),
      minor: Number(digits.slice(cut)),
      update: Number(build[2]),
      label: trimmed,
    }
  }
  const parts = version.exec(trimmed)
  if (!parts || Number(parts[1]) >= firstYear) return null
  return {
    major: Number(parts[1]),
    minor: Number(parts[2]),
    update: parts[3] === undefined ? null : Number(parts[3]),
    label: trimmed,
  }
}

/** Returns a negative number if `a` is older. A version without an update equals every build of that version. */
export function compareBuilds(a: Build, b: Build): number {
  if (a.major !== b.major) return a.major - b.major
  if (a.minor !== b.minor) return a.minor - b.minor
  return a.update === null || b.update === null ? 0 : a.update - b.update
}

export function isAtLeast(build: Build, first: Build): boolean {
  return compareBuilds(build, first) >= 0
}

/** SPEC.md 7 and 9: the standard image needs x86-64-v3 since this build. */
export const firstV3Build: Build = { major: 5, minor: 26, update: 3, label: '526u03' }

/** SPEC.md 7 and 9: there is an image for older processors since this build, the newest that is documented. */
export const firstLegacyBuild: Build = { major: 5, minor: 27, update: 1, label: '527u01' }

/** SPEC.md 7 and 9: versions 5.11 to 5.24 move the trees to a new structure. */
export const treeMigration = { first: '5.11', last: '5.24' } as const

/** True if this build comes after all those that move the trees to the new structure. */
export function comesAfterTrees(build: Build): boolean {
  return compareBuilds(build, parseBuild(treeMigration.last)!) > 0
}

/** True if this build moves the trees to the new structure. */
export function migratesTrees(build: Build): boolean {
  const { major, minor } = build
  return major === 5 && minor >= 11 && minor <= 24
}
