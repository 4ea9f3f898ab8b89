/** as many as no file has that people wrote */
const mostNames = 5000

/** Words in capitals, at least one underscore within, that are keys or stand in texts. */
export function namesIn(value: unknown): string[] {
  const names = new Set<string>()
  const within = (it: unknown): void => {
    if (names.size >= mostNames) return
    if (typeof it === 'string')
      for (const [name] of it.matchAll(/(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*_[A-Z0-9_]*(?![A-Za-z0-9_])/g)) names.add(name)
    if (typeof it !== 'object' || it === null) return
    for (const [key, inner] of Object.entries(it)) {
      within(key)
      within(inner)
    }
  }
  within(value)
  return [...names]
}
