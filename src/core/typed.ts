/** A command as one would type it in a shell. */
export function typed(command: readonly string[]): string {
  return command.map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The flags that name a deployment, and the configuration file where one was named by a flag. */
export function onDeployment(name: string, config?: string): string {
  return typed(['-d', name, ...(config === undefined ? [] : ['--config', config])])
}
