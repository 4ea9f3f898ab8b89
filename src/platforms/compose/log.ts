import type { LogText } from '../../adapters/log-file.ts'
import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { followPlaces, nanoseconds, wholeSecond } from '../follow.ts'
import type { Container } from './containers.ts'
import type { Engine } from './engine.ts'
import { engineFailure } from './engine.ts'
import type { Beginning, Places } from '../follow.ts'
import { runs } from './status.ts'

/** Maximum number of lines, as for a journal */
const mostLines = 50_000

/**
 * Returns the log of a service's containers as their engine keeps it. Calls `containers` at each reading: a start may
 * replace them. `name`: of one of them, for people.
 */
export function composeLog(engine: Engine, name: string, containers: () => Promise<readonly Container[]>): LogText {
  const words = (name: string, lines: number): string[] => ['logs', '--timestamps', '--tail', String(lines), name]
  const some = async (): Promise<readonly Container[]> => {
    const all = await containers()
    if (all.length > 0) return all
    throw new AdminError(
      'UNAVAILABLE',
      'the service has no container, so it has no log',
      [typed([engine.program, 'ps', '--all'])],
      { obstacle: { kind: 'instances' } },
    )
  }
  const prints = typed([engine.program, 'logs', name])
  return {
    target: prints,
    prints,
    follow: (options) => followPlaces(containerLogs(engine, containers), options),
    async parts({ since }) {
      const begun = (await some()).filter(({ state }) => state.startedAt !== null)
      // by its id: another container may have got its name meanwhile
      const of = (id: string): string[] => [
        'logs',
        '--timestamps',
        ...(since === undefined ? [] : ['--since', wholeSecond(nanoseconds(since.getTime()))]),
        id,
      ]
      return begun.map(({ id, name }) => ({ name, blocks: (signal) => engine.blocks(of(id), signal) }))
    },
    async newest({ maxBytes }) {
      const all = await some()
      const share = Math.floor(maxBytes / all.length)
      const read = await Promise.all(
        all.map(async ({ name }) => {
          const result = await engine.ask(words(name, mostLines), { maxBytes: share, keepNewest: true })
          if (result.exitCode !== 0) throw engineFailure([engine.program, ...words(name, 200)], result)
          // a truncated output begins in the middle of a line
          const texts = [result.stdout, result.stderr].map((text) =>
            result.truncated && text.length >= share / 2 ? text.slice(text.indexOf('\n') + 1) : text,
          )
          return { lines: texts.flatMap(timedLines), complete: !result.truncated }
        }),
      )
      const lines = read.flatMap((it) => it.lines)
      const isWhole = read.every((it) => it.complete && it.lines.length < mostLines)
      return withinBytes(inOrder(lines), maxBytes, isWhole)
    },
  }
}

interface Line {
  at: string
  text: string
}

/** Splits each line into the time that the engine added and the program's own text. */
function timedLines(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    const [, at, rest] = /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s.exec(line) ?? []
    return at === undefined ? (line === '' ? [] : [{ at: '', text: line }]) : [{ at, text: rest ?? '' }]
  })
}

/** Merges both streams, and several containers, by time; lines of one stream keep their order. */
function inOrder(lines: readonly Line[]): string[] {
  return lines.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ text }) => text)
}

function withinBytes(
  lines: readonly string[],
  maxBytes: number,
  isWhole: boolean,
): { complete: boolean; text: string } {
  let left = maxBytes
  let first = lines.length
  while (first > 0) {
    left -= Buffer.byteLength(lines[first - 1]!) + 1
    if (left < 0) break
    first -= 1
  }
  const kept = lines.slice(first)
  return { complete: isWhole && first === 0, text: kept.length === 0 ? '' : `${kept.join('\n')}\n` }
}

interface Followed {
  key: string
  name: string
  run: string
  isRunning: boolean
}

/** Returns how to list a service's containers and follow their logs. Calls `containers` at each look. */
function containerLogs(engine: Engine, containers: () => Promise<readonly Container[]>): Places<Followed> {
  return {
    async list() {
      const begun = (await containers()).filter(({ state }) => state.startedAt !== null)
      return begun.map((it) => ({
        key: it.id,
        name: it.name,
        run: it.state.startedAt?.toISOString() ?? '',
        isRunning: runs(it),
      }))
    },
    // by its id: another container may have got its name meanwhile
    lines: ({ key }, from, signal) => engine.lines(['logs', '--follow', '--timestamps', ...wanted(from), key], signal),
  }
}

/** Returns the flags for a beginning; an engine keeps all runs of a container in one log. */
function wanted({ since, agoSeconds }: Beginning): string[] {
  if (since !== null) return ['--since', wholeSecond(since)]
  return agoSeconds === null ? [] : agoSeconds === 0 ? ['--tail', '0'] : ['--since', `${agoSeconds}s`]
}
