/**
 * Commands that build servers obey in a program's output. `##vso[…]`, `##[…]` (Azure Pipelines, GitHub Actions) and
 * `##teamcity[…]` count anywhere in a line, in any case. `::error …::` (GitHub Actions) counts after blanks at the
 * start of a line. So do marks of sections (GitLab, Travis CI). The line breaks are not known here, so every word
 * counts as the start of a line.
 */
const inLine = /##(?=\w{0,40}\[)/g
const sections = /(section|travis)_(?=(?:start|end|fold|time):)/gi
const firstWord = /(^|\s)::(?=\p{L})(?!(?:[\da-f]{1,4}:){0,7}[\da-f]{1,4}(?![\w:-]))/giu

/**
 * Returns foreign text in which no build server finds a command: inserts `''`, as in `#''#vso[` or `:'':error`. The
 * insertion is visible, and means nothing in a word quoted for a shell. Leaves IPv6 addresses unchanged.
 */
export function withoutBuildCommands(text: string): string {
  if (!mayHold(text)) return text
  return text.replace(inLine, "#''#").replace(sections, "$1''_").replace(firstWord, "$1:'':")
}

/** Returns the text of a JSON document in which no build server finds a command; it parses to the same value. */
export function jsonWithoutBuildCommands(json: string): string {
  if (!mayHold(json)) return json
  return json.replace(inLine, '#\\u0023').replace(sections, '$1\\u005f')
}

function mayHold(text: string): boolean {
  return text.includes('##') || text.includes('::') || /(?:section|travis)_/i.test(text)
}
