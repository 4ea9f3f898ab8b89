import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AdminError, codeOf } from '../core/error.ts'
import { programCommand } from '../core/package-parts.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { asPath, command } from '../core/shell-command.ts'
import type { RabbitmqLine, ServerKind } from './servers/index.ts'

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
  /** the drill that is under way */
  drill: string
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
    drill: file('drill.json'),
  }
}

/** Returns the command that runs a program of the lab. Throws UNAVAILABLE if the package has not been built. */
export function labProgram(path: string): readonly [string, ...string[]] {
  const found = programCommand(path)
  if (found) return found
  throw new AdminError('UNAVAILABLE', `${path} is missing, because testops-admin has not been built`, ['npm run build'])
}

/**
 * Makes a folder and its missing parents, with mode 0700. Throws the system's error. Avoids `mkdir` with `recursive`,
 * which never returns below /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await isFolder(path))) return
    const above = dirname(path)
    if (codeOf(error) !== 'ENOENT' || above === path || (await isFolder(above))) throw error
    await makeFolder(above)
    await makeFolder(path)
  }
}

/** True if a write failed because the disk is full. */
export function isNoRoom(error: unknown): boolean {
  return noRoom.includes(codeOf(error) ?? '')
}

const noRoom = ['ENOSPC', 'EDQUOT']

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EEXIST: 'there is a file where a folder should be',
  ENOTDIR: 'there is a file where a folder should be',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'cannot create a folder there',
  EIO: 'the disk fails',
}

/**
 * Turns a failure to read or write the lab's folder into UNAVAILABLE, for the operator. Returns any other error
 * unchanged.
 */
export function folderFailure(error: unknown, root: string): unknown {
  const reason = reasons[codeOf(error) ?? '']
  const { path, syscall } = error as NodeJS.ErrnoException
  if (error instanceof AdminError || reason === undefined || syscall === undefined || !file.test(syscall)) return error
  // an error from writing to an open file has no path
  const where = path === undefined || path === root ? '' : ` (${path})`
  const hints: Suggestion[] = isNoRoom(error)
    ? [
        command`df -h ${asPath(root)}`,
        "free some space on the disk of the lab's folder, then try again",
        'testops-admin lab down   # frees the disk space of the lab',
      ]
    : [command`ls -ld ${asPath(root)}`, 'export TESTOPS_ADMIN_LAB_DIR=…   # the path of a folder that you can write to']
  return new AdminError('UNAVAILABLE', `cannot use the lab's folder ${root}: ${reason}${where}`, hints, {
    cause: error,
  })
}

/** system calls on files */
const file = new RegExp(
  '^(access|chmod|chown|copyfile|f?sync|fdatasync|fstat|link|lstat|mkdir|open|read|readlink|rename|rmdir|scandir|' +
    'stat|symlink|unlink|write)$',
)

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (it) => it.isDirectory(),
    () => false,
  )
}
