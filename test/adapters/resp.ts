import { connect } from 'node:net'
import { listen } from './peers.ts'

/**
 * A port that answers some commands of Redis by itself and passes all others on to a real server. `answers` maps a
 * command's first words, lower case, to the reply as it goes over the wire.
 */
export async function interceptingRedis(
  server: { host: string; port: number },
  answers: (port: number) => Readonly<Record<string, string>>,
): Promise<number> {
  let port = 0
  port = await listen((client) => {
    const upstream = connect(server)
    upstream.on('error', () => client.destroy())
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
    upstream.pipe(client)
    client.on('data', (bytes: Buffer) => {
      const words = [
        ...bytes
          .toString('latin1')
          .toLowerCase()
          .matchAll(/\$\d+\r\n([^\r]*)/g),
      ].map(([, word]) => word)
      const answer = Object.entries(answers(port)).find(([command]) => words.join(' ').startsWith(command))?.[1]
      if (answer === undefined) upstream.write(bytes)
      else client.write(answer)
    })
  })
  return port
}

/** A list of strings, numbers and lists as Redis writes it. */
export function resp(value: string | number | readonly (string | number | readonly unknown[])[]): string {
  if (typeof value === 'number') return `:${value}\r\n`
  if (typeof value === 'string') return `$${value.length}\r\n${value}\r\n`
  return `*${value.length}\r\n${value.map((item) => resp(item as string)).join('')}`
}
