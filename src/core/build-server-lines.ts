/**
 * What build servers obey where a program prints it: `##vso[…]`, `##[…]` (Azure Pipelines, GitHub Actions) and
 * `##teamcity[…]` anywhere in a line, in any case of letters; `::error …::` (GitHub Actions) behind blanks at its
 * beginning; marks of sections (GitLab, Travis CI). Where a text is broken into lines is not known here, so that every
 * word counts as the beginning of one.
 */
const inLine = /##(?=\w{0,40}\[)/g
const sections = /(section|travis)_(?=(?:start|end|fold|time):)/gi
const firstWord = /(^|\s)::(?=\p{L})(?!(?:[\da-f]{1,4}:){0,7}[\da-f]{1,4}(?![\w:-]))/giu

/**
 * A text of foreign origin that no build server takes for a command of its own: `''` stands in it, as `#''#vso[` or
 * `:'':error`. That shows, and in a word that is quoted for a shell it means nothing. Addresses of IPv6 stay as they
 * are.
 */
export function withoutBuildCommands(text: string): string {
  if (!mayHold(text)) return text
  return text.replace(inLine, "#''#").replace(sections, "$1''_").replace(firstWord, "$1:'':")
}

/** The text of a JSON document in which no build server finds a command; parsed, it is equal. */
export function jsonWithoutBuildCommands(json: string): string {
  if (!mayHold(json)) return json
  return json.replace(inLine, '#\\u0023').replace(sections, '$1\\u005f')
}

function mayHold(text: string): boolean {
  return text.includes('##') || text.includes('::') || /(?:section|travis)_/i.test(text)
}
