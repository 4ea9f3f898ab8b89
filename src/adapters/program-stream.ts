import { spawn } from 'node:child_process'
import { Duplex } from 'node:stream'
import { env } from 'node:process'

/**
 * A program as a connection: what is written goes to its standard input, what is read is its standard output. It ends
 * well where the program ends with 0; otherwise, and where it cannot be started, it breaks. Destroying it ends the
 * program.
 */
export function programStream(
  [file, ...parameters]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string | undefined>>,
): Duplex {
  // out of this terminal's reach: what is being undone after Ctrl-C needs its connections
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
  // a program that has ended takes nothing more, and tells of it by its end
  child.stdin.on('error', () => undefined)
  child.once('error', (error) => stream.destroy(error))
  child.once('close', (exitCode) =>
    exitCode === 0 ? stream.push(null) : stream.destroy(new Error(`${file} exited with ${exitCode}`)),
  )
  return stream
}
