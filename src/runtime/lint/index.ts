import { inspect, partOfFile, unpackers } from '../../adapters/input/file.ts'
import type { Inspected } from '../../adapters/input/file.ts'
import { systemCode } from '../../adapters/failure.ts'
import { AdminError } from '../../core/error.ts'
import type { LogPart } from '../../core/sources.ts'
import { command } from '../../core/shell-command.ts'

export { hasEnded, markOf } from '../../adapters/process-identity.ts'
export { levels, lintSettings } from './settings.ts'
export type { Level, LintSettings } from './settings.ts'

/**
 * Returns logs of agents by their names, packed or not. Throws USAGE for a folder or a missing file, FORBIDDEN, and
 * UNAVAILABLE for a compression that this program cannot unpack.
 */
export async function agentLogs(names: readonly string[]): Promise<LogPart[]> {
  const parts: LogPart[] = []
  for (const name of names) {
    const { kind, format } = await look(name)
    if (kind === 'folder') throw new AdminError('USAGE', `${name} is a folder, not the log of an agent`, [flag])
    const unpacker = unpackers[format]
    if (unpacker)
      throw new AdminError('UNAVAILABLE', `${name} is compressed with ${format}, which testops-admin cannot unpack`, [
        command`${unpacker} ${name} > agent.log`,
        'testops-admin lint-results DIR --agent-log agent.log',
      ])
    parts.push(partOfFile(name))
  }
  return parts
}

const flag = 'testops-admin lint-results DIR --agent-log FILE   # FILE is the output of the plugin or uploader'

async function look(name: string): Promise<Inspected> {
  try {
    return await inspect(name)
  } catch (error) {
    const code = error instanceof AdminError ? systemCode(error.cause) : null
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new AdminError('USAGE', `there is no file ${name}`, [flag], { cause: error })
    throw error
  }
}
