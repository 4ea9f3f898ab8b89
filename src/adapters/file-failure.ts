import { AdminError, messageOf } from '../core/error.ts'
import { systemCode } from './failure.ts'
import { asPath, command } from '../core/shell-command.ts'

export function notFile(file: string): AdminError {
  return new AdminError('UNAVAILABLE', `the log ${file} is not a file`, [command`ls -ld ${asPath(file)}`])
}

/** Explains why a log file cannot be read. */
export function fileFailure(error: unknown, file: string): AdminError {
  if (error instanceof AdminError) return error
  const options = { cause: error }
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new AdminError(
        'UNAVAILABLE',
        `the log file ${file} does not exist`,
        [command`ls -l ${asPath(file)}`],
        options,
      )
    case 'EACCES':
    case 'EPERM':
      return new AdminError(
        'FORBIDDEN',
        `this user cannot read the log file ${file}`,
        [command`ls -l ${asPath(file)}`],
        options,
      )
    default:
      return new AdminError(
        'UNAVAILABLE',
        `the log file ${file} cannot be read: ${messageOf(error)}`,
        [command`ls -l ${asPath(file)}`],
        options,
      )
  }
}
