import { endOf } from '../../adapters/process.ts'
import type { ProgramResult } from '../../adapters/process.ts'
import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { command } from '../../core/shell-command.ts'

/** Explains why an engine or its compose program did not do what was asked. */
export function engineFailure(words: readonly [string, ...string[]], result: ProgramResult): AdminError {
  const [program] = words
  const said = `${result.stderr}${result.stdout}`
  // moby, client/errors.go; the socket belongs to the group docker
  if (/permission denied(?:(?!permission denied).)*(?:daemon|socket)/is.test(said)) {
    return new AdminError('FORBIDDEN', `this user may not use ${program}: its socket denies access`, [
      'id -nG   # is the group docker among them?',
      'run this with sudo',
    ])
  }
  // a message about a registry begins with the engine's own words
  if (
    !/error response from daemon/i.test(said) &&
    /cannot connect to the docker daemon|error during connect|connection refused|cannot connect to podman/i.test(said)
  ) {
    return new AdminError('UNAVAILABLE', `${program} is installed, but its engine does not answer: ${endOf(result)}`, [
      command`${program} info`,
    ])
  }
  // podman-compose 1.0.3, of Debian 12, lacks it; 1.3.0 and 1.6.0 have it
  if (/invalid choice: 'config'/.test(said)) {
    return new AdminError(
      'UNAVAILABLE',
      'this podman-compose has no command `config` to read the files with: 1.0.3 lacks it, 1.3.0 has it',
      ['podman-compose --version'],
    )
  }
  return new AdminError('UNEXPECTED_ANSWER', `\`${typed(words)}\` ${endOf(result)}`, [typed(words)])
}
