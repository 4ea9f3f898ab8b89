/** An image as a compose file writes it, cut around its name. */
export interface ImageText {
  /** registry and repository, with the slash behind them */
  before: string
  name: string
  /** without the colon; null: none */
  tag: string | null
  /** without the sign; null: none */
  digest: string | null
}

/** Null where the name itself is, or may be, in a variable. `${…}` may hold slashes and colons of its own. */
export function parseImage(text: string): ImageText | null {
  // a character for each of a variable's, which means nothing in a name
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

/** The one variable that a tag is, and what it is where nothing sets it; null: it is none, or more than one. */
export function variableOf(tag: string): { name: string; otherwise: string | null } | null {
  const [, bare, braced, otherwise] =
    /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^{}$]*)|:?\?[^{}]*)?\})$/.exec(tag) ?? []
  const name = bare ?? braced
  return name === undefined ? null : { name, otherwise: otherwise ?? null }
}
