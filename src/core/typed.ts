import type { NamedFile } from './deployment.ts'
import { typed } from './shell-command.ts'
import type { ShellCommand } from './shell-command.ts'
export { typed } from './shell-command.ts'

/**
 * The flags that name a deployment, and the configuration file where one was named by a flag; or the file that it is.
 */
export function onDeployment(name: string, config?: string, file?: NamedFile): ShellCommand {
  if (file) return typed(flag(file.flag, file.path))
  return typed([
    ...(name.startsWith('-') ? flag('--deployment', name) : ['-d', name]),
    ...(config === undefined ? [] : flag('--config', config)),
  ])
}

/** A flag with its value, which is no flag even where it begins as one. */
function flag(name: string, value: string): string[] {
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value]
}
