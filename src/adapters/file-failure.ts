import { AdminError, messageOf } from '../core/error.ts'
import { systemCode } from './failure.ts'

export function notFile(file: string): AdminError {
  return new AdminError('UNAVAILABLE', `the log ${file} is not a file`, [`ls -ld ${file}`])
}

/** Why a log file cannot be read. */
export function fileFailure(error: unknown, file: string): AdminError {
  if (error instanceof AdminError) return error
  const options = { cause: error }
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new AdminError('UNAVAILABLE', `the log file ${file} does not exist`, [`ls -l ${file}`], options)
    case 'EACCES':
    case 'EPERM':
      return new AdminError('FORBIDDEN', `the log file ${file} may not be read by this user`, [`ls -l ${file}`], options)
    default:
      return new AdminError('UNAVAILABLE', `the log file ${file} cannot be read: ${messageOf(error)}`, [`ls -l ${file}`], options)
  }
}
