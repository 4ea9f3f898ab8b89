import type { NamedFile } from './deployment.ts'
import { typed } from './shell-command.ts'
import type { ShellCommand } from './shell-command.ts'
export { typed } from './shell-command.ts'

/**
 * Returns the flags that name a deployment, and its configuration file if a flag named one; or the flag of its `file`.
 */
export function onDeployment(name: string, config?: string, file?: NamedFile): ShellCommand {
  if (file) return typed(flag(file.flag, file.path))
  return typed([
    ...(name.startsWith('-') ? flag('--deployment', name) : ['-d', name]),
    ...(config === undefined ? [] : flag('--config', config)),
  ])
}

/** Returns a flag with its value, joined so that a value which begins with a dash stays a value. */
function flag(name: string, value: string): string[] {
  return value.startsWith('-') ? [`${name}=${value}`] : [name, value]
}
