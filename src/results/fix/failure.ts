import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { asPath } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/**
 * Why a copy could not be made, in the operator's words; nothing is left of it. `hidden`: what the path begins with
 * before it has its name.
 */
export function copyFailure(error: unknown, from: string, output: string, hidden: string): unknown {
  if (error instanceof AdminError) return error
  const { path } = error as NodeJS.ErrnoException
  const file = path === undefined ? from : String(path).startsWith(hidden) ? parentOf(output) : String(path)
  const fail = (code: 'FORBIDDEN' | 'UNAVAILABLE', message: string, next: Suggestion[]): AdminError =>
    new AdminError(code, `${message}; nothing was written to ${output}`, next, { cause: error })
  switch (codeOf(error)) {
    case null:
      return error
    case 'ENOSPC':
    case 'EDQUOT':
      return fail('UNAVAILABLE', 'there is no room for the copy', [typed(['df', '-h', asPath(parentOf(output))])])
    case 'ENOTEMPTY':
    case 'EEXIST':
    case 'ENOTDIR':
      return new AdminError(
        'USAGE',
        `--output: something else wrote ${output} during the copy, so it is left as it is`,
        [typed(['ls', '-ld', asPath(output)])],
        { cause: error },
      )
    case 'EROFS':
      return fail('FORBIDDEN', `${file} is on a read-only file system`, [typed(['df', '-h', asPath(file)])])
    case 'EACCES':
    case 'EPERM':
      return fail('FORBIDDEN', `this user may not read or write ${file}`, [typed(['ls', '-ld', asPath(file)])])
    case 'ENOENT':
      return fail('UNAVAILABLE', `${file} disappeared during the copy: is something still writing there?`, [
        typed(['ls', '-l', asPath(from)]),
      ])
    default:
      return fail('UNAVAILABLE', `${file} cannot be copied: ${messageOf(error)}`, [typed(['ls', '-ld', asPath(file)])])
  }
}

function parentOf(path: string): string {
  return path.replace(/\/[^/]*$/, '') || '.'
}
