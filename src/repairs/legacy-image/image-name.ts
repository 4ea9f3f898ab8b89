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
