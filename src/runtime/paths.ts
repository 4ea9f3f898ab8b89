import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

/** Folder of the operator's own configuration: `$XDG_CONFIG_HOME/testops-admin`, by default under `~/.config`. */
export function configHome(environment: Environment): string {
  return join(base(environment, 'XDG_CONFIG_HOME', '.config'), 'testops-admin')
}

/** Folder of journals, backups and the lab: `$XDG_STATE_HOME/testops-admin`, by default under `~/.local/state`. */
export function stateHome(environment: Environment): string {
  return join(base(environment, 'XDG_STATE_HOME', join('.local', 'state')), 'testops-admin')
}

/** Folder of the practice deployment, absolute: TESTOPS_ADMIN_LAB_DIR, else `lab` in the state folder. */
export function labDirectory(environment: Environment): string {
  return resolve(environment.TESTOPS_ADMIN_LAB_DIR || join(stateHome(environment), 'lab'))
}

/** The configuration that `lab up` writes, read for `-d lab`. */
export function labConfigurationFile(environment: Environment): string {
  return join(labDirectory(environment), 'testops-admin.yaml')
}

/** The XDG specification: a relative path in these variables is to be ignored. */
function base(environment: Environment, variable: string, fallback: string): string {
  const configured = environment[variable]
  return configured && isAbsolute(configured) ? configured : join(environment.HOME || homedir(), fallback)
}
