import { AdminError } from '../../core/error.ts'

/** Returns the error for an image built on this machine: its name does not show what is in it. */
export function built(service: string): AdminError {
  return new AdminError(
    'REFUSED',
    `the image of service ${service} is built on this machine (\`build\`), so its name does not show what is in it. Nothing was changed`,
    ['change FROM in its Dockerfile, then build it again'],
  )
}
