import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { answer } from './fake-docker.ts'
import type { EngineState } from './fake-docker.ts'
import { followLog } from './fake-logs.ts'

/**
 * The program `docker` as a script that asks a server within this process: a program of Node takes its time to start,
 * and the tests run many; so it runs no other where the shell can do it. Everything that it is given arrives: words,
 * folder, environment, standard input; exit code and both outputs go back.
 */
const script = (port: number): string => `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${port} || exit 127
{
  printf '%s\\0' "$#" "$@" "$PWD"
  while IFS= read -r -d '' given; do printf '%s\\0' "$given"; done </proc/$$/environ
  printf '\\0'
  case "$* " in compose*' - '*) /bin/cat ;; esac
  printf '\\0'
} >&3
read -r run code out err plain <&3
if [ "$run" -gt 0 ]; then
  shift "$run"
  export PATH=/usr/bin:/bin
  exec "$@" 3>&-
fi
# an output without end
[ "$out" = - ] && exec /bin/cat <&3
if [ "$plain" ]; then
  LC_ALL=C
  [ "$out" = 0 ] || { IFS= read -r -N "$out" text <&3; printf %s "$text"; }
  [ "$err" = 0 ] || { IFS= read -r -N "$err" text <&3; printf %s "$text" >&2; }
  exit "$code"
fi
[ "$out" = 0 ] || /usr/bin/head -c "$out" <&3
[ "$err" = 0 ] || /usr/bin/head -c "$err" <&3 >&2
exit "$code"
`

export interface FakeEngine {
  /** what the program `docker` is */
  script: string
  /** what it was asked, a command a line */
  asked: readonly string[]
}

/** It answers as long as this process lives. */
export async function startFakeEngine(state: EngineState): Promise<FakeEngine> {
  const asked: string[] = []
  const server = createServer((socket) => {
    let received = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      const request = requestIn(received)
      if (request === null) return
      received = Buffer.alloc(0)
      asked.push(request.words.join(' '))
      if (request.words[0] === 'logs' && request.words.includes('--follow') && !state.failure) {
        socket.write('0 0 - 0\n')
        return followLog(state, request.words, socket)
      }
      answer(state, request).then(
        ({ run = 0, code, stdout, stderr }) =>
          socket.end(
            `${run} ${code} ${Buffer.byteLength(stdout)} ${Buffer.byteLength(stderr)} ${plain(stdout + stderr)}\n` +
              `${stdout}${stderr}`,
          ),
        (error: unknown) => socket.end(`0 1 0 ${Buffer.byteLength(String(error))}\n${String(error)}`),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return { script: script((server.address() as AddressInfo).port), asked }
}

/** Whether bash can print it by itself: it knows no zeros, and is slow with what is long. */
const plain = (text: string): string => (text.length < 50_000 && !text.includes('\0') ? 'plain' : '')

/** Null: more is to come. */
function requestIn(
  received: Buffer,
): { words: string[]; directory: string; environment: Record<string, string>; input: string } | null {
  const [count, ...parts] = received.toString('utf8').split('\0')
  const words = parts.slice(0, Number(count))
  const rest = parts.slice(words.length + 1)
  const end = rest.indexOf('')
  // standard input, and what follows its end
  if (count === undefined || end < 0 || rest.length < end + 3) return null
  const environment = Object.fromEntries(
    rest.slice(0, end).map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)]),
  )
  return { words, directory: parts[words.length]!, environment, input: rest[end + 1]! }
}
