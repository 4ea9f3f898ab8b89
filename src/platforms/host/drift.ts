import { command } from '../../core/shell-command.ts'
import { readFile } from 'node:fs/promises'
import { AdminError, codeOf } from '../../core/error.ts'
import type { Secret } from '../../core/secret.ts'
import type { ServiceInstance, SettingsDrift } from '../../core/sources.ts'
import { isOfService } from '../../knowledge/settings.ts'
import { differing } from '../drift.ts'

/**
 * Where the service's files say otherwise than the environment that its process began with (proc(5),
 * `/proc/PID/environ`): they were changed since. Throws NOT_CONFIGURED where no process runs, FORBIDDEN where it is
 * another user's.
 */
export async function driftOf(
  instance: ServiceInstance | undefined,
  declared: ReadonlyMap<string, string | Secret>,
  declaredIn: string,
): Promise<SettingsDrift> {
  if (!instance?.pid)
    throw new AdminError('NOT_CONFIGURED', 'it does not run, and so has no settings but those of its files')
  const runs = await environmentOfProcess(instance.pid)
  // what came from elsewhere is not known to have been in its files
  const gone = [...runs.keys()].filter((name) => !declared.has(name) && isOfService(name, declared.keys()))
  return {
    declaredIn,
    shown: command`sudo tr '\\0' '\\n' < ${`/proc/${instance.pid}/environ`}`,
    settings: differing([...declared.keys(), ...gone], declared, runs),
  }
}

async function environmentOfProcess(pid: number): Promise<Map<string, string>> {
  const file = `/proc/${pid}/environ`
  try {
    const assignments = (await readFile(file, 'utf8')).split('\0').filter((it) => it.includes('='))
    return new Map(assignments.map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)]))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EACCES' || code === 'EPERM')
      throw new AdminError(
        'FORBIDDEN',
        `what its process began with may not be read by this user (${file})`,
        ['run this with sudo'],
        { cause: error },
      )
    throw new AdminError('NOT_CONFIGURED', `its process has no environment to be read (${file})`, [], { cause: error })
  }
}
