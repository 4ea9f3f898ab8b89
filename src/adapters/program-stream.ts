import { spawn } from 'node:child_process'
import { Duplex } from 'node:stream'
import { env } from 'node:process'

/**
 * Starts a program as a connection: writing goes to its standard input, reading comes from its standard output. It ends
 * normally if the program exits with 0. Otherwise, or if the program cannot be started, it fails. Destroying it ends
 * the program.
 */
export function programStream(
  [file, ...parameters]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string | undefined>>,
): Duplex {
  // detached from this terminal: an undo after Ctrl-C still needs its connections
  const child = spawn(file, parameters, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...env, ...environment },
    detached: true,
  })
  const stream = new Duplex({
    read: () => void child.stdout.resume(),
    write: (bytes: Buffer, _, done) => void child.stdin.write(bytes, done),
    final: (done) => void child.stdin.end(done),
    destroy(error, done) {
      child.kill()
      done(error)
    },
  })
  child.stdout.on('data', (bytes: Buffer) => {
    if (!stream.push(bytes)) child.stdout.pause()
  })
  // a program that has ended accepts no input; its exit reports the failure
  child.stdin.on('error', () => undefined)
  child.once('error', (error) => stream.destroy(error))
  child.once('close', (exitCode) =>
    exitCode === 0 ? stream.push(null) : stream.destroy(new Error(`${file} exited with ${exitCode}`)),
  )
  return stream
}
