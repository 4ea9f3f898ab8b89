import type { NamedFile } from './deployment.ts'

/** A command as one would type it in a shell. */
export function typed(command: readonly string[]): string {
  return command.map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The flags that name a deployment, and the configuration file where one was named by a flag; or the file that it is. */
export function onDeployment(name: string, config?: string, file?: NamedFile): string {
  if (file) return typed([file.flag, file.path])
  return typed(['-d', name, ...(config === undefined ? [] : ['--config', config])])
}
