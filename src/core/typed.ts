/** A command as one would type it in a shell. */
export function typed(command: readonly string[]): string {
  return command.map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
