import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError } from '../core/error.ts'
import { packageFolder } from '../core/package-folder.ts'
import type { ServerKind } from './servers/index.ts'
import type { RabbitmqLine } from './servers/index.ts'

/** The paths of everything in a lab. Folders have mode 0700, files 0600. */
export interface LabLayout {
  root: string
  state: string
  lock: string
  /** the deployment's configuration, read for `-d lab` */
  configuration: string
  cpuinfo: string
  secrets: string
  secret(
    name: 'database' | 'broker' | 'sessions' | 'api-token' | 'api-token-owner' | 'api-token-guest' | 'integration',
  ): string
  servers: string
  server(kind: ServerKind, line?: RabbitmqLine): string
  /** the practice service's folder, in the form that service-control expects */
  service: string
  /** a second instance of the service, if a fault needs one */
  secondService: string
  /** folder of the program that holds database connections */
  holder: string
  /** folder of the reverse proxy in front of the service, if a fault needs one */
  proxy: string
  /** folder of the external system that an integration calls, if a fault needs one */
  externalSystem: string
  /** a repair's saved plan, if a fault needs one */
  savedPlan: string
}

export function labLayout(root: string): LabLayout {
  const file = (...parts: string[]): string => join(root, ...parts)
  return {
    root,
    state: file('lab.json'),
    lock: file('operator.lock'),
    configuration: file('testops-admin.yaml'),
    cpuinfo: file('cpuinfo'),
    secrets: file('secrets'),
    secret: (name) => file('secrets', name),
    servers: file('servers'),
    server: (kind, line) => file('servers', line === undefined ? kind : `${kind}-${line}`),
    service: file('service'),
    secondService: file('second-service'),
    holder: file('connection-holder'),
    proxy: file('reverse-proxy'),
    externalSystem: file('external-system'),
    savedPlan: file('plan.json'),
  }
}

/** Returns the path of a built program of this package. Throws UNAVAILABLE if the package has not been built. */
export async function builtProgram(path: string): Promise<string> {
  const program = join(packageFolder(), 'dist', path)
  if (
    await readFile(program).then(
      () => true,
      () => false,
    )
  )
    return program
  throw new AdminError('UNAVAILABLE', `${program} is missing: this package is not built`, ['npm run build'])
}
