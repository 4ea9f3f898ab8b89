import type { Beginning, Places } from '../follow.ts'
import { wholeSecond } from '../timed-line.ts'
import type { Container } from './containers.ts'
import type { Engine } from './engine.ts'
import { runs } from './status.ts'

interface Followed {
  key: string
  name: string
  run: string
  isRunning: boolean
}

/** The containers of a service as their engine has them. `containers` are asked for at each look. */
export function containerLogs(engine: Engine, containers: () => Promise<readonly Container[]>): Places<Followed> {
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
    // by its id: another one may have got its name meanwhile
    lines: ({ key }, from, signal) => engine.lines(['logs', '--follow', '--timestamps', ...wanted(from), key], signal),
  }
}

/** An engine keeps all runs of a container in one log. */
function wanted({ since, agoSeconds }: Beginning): string[] {
  if (since !== null) return ['--since', wholeSecond(since)]
  return agoSeconds === null ? [] : agoSeconds === 0 ? ['--tail', '0'] : ['--since', `${agoSeconds}s`]
}
