import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { EngineState } from './fake-docker.ts'

interface Line {
  /** to the nanosecond, as the engine notes it */
  at: string
  text: string
}

/** What containers print, by their ids; all runs of a container have one log. */
export class Printed {
  readonly #lines = new Map<string, Line[]>()
  readonly #changes = new EventEmitter().setMaxListeners(100)

  /** how many streams are open */
  get followers(): number {
    return this.#changes.listenerCount('line')
  }

  print(id: string, text: string, at = new Date().toISOString().replace('Z', '000000Z')): void {
    const line = { at, text }
    this.#lines.set(id, [...(this.#lines.get(id) ?? []), line])
    this.#changes.emit('line', id, line)
  }

  of(id: string): readonly Line[] {
    return this.#lines.get(id) ?? []
  }

  /** The container ends, and with it all who follow it. */
  end(id: string): void {
    this.#changes.emit('end', id)
  }

  /** The engine itself goes away for a moment. */
  breakOff(): void {
    this.#changes.emit('break')
  }

  follow(id: string, socket: Socket, show: (line: Line) => void): void {
    const line = (of: string, it: Line): void => void (of === id && show(it))
    const end = (of: string): void => void (of === id && socket.end())
    const broken = (): void => void socket.destroy()
    this.#changes.on('line', line).on('end', end).on('break', broken)
    socket.once('close', () => this.#changes.off('line', line).off('end', end).off('break', broken))
  }
}

/** `docker logs --follow --timestamps [--since TIME|SECONDSs] [--tail 0] CONTAINER`, both outputs as one. */
export function followLog({ containers, printed }: EngineState, words: readonly string[], socket: Socket): void {
  const id = words.at(-1) ?? ''
  const container = containers.find((it) => it.Id === id)
  if (!container || !printed) return void socket.end(`Error response from daemon: No such container: ${id}\n`)
  const after = (flag: string): string | null =>
    words.includes(flag) ? (words[words.indexOf(flag) + 1] ?? null) : null
  const since = after('--since')
  const from =
    since === null ? -Infinity : since.endsWith('s') ? Date.now() - Number.parseInt(since) * 1000 : Date.parse(since)
  const show = ({ at, text }: Line): void => void (Date.parse(at) >= from && socket.write(`${at} ${text}\n`))
  if (after('--tail') !== '0') printed.of(id).forEach(show)
  if (container.State['Status'] !== 'running') return void socket.end()
  printed.follow(id, socket, show)
}
