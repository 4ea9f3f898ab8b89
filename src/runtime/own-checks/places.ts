import { AdminError } from '../../core/error.ts'

/** Runs work of one deployment in its turn. Throws what `late` makes if that does not come, and what the work throws. */
export type Turn = <T>(work: () => Promise<T>, late: () => Error) => Promise<T>

interface Line {
  waiting: { begin: () => void; giveUp: () => void }[]
  running: number
  atOnce: number
  waitMs: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Places for processes, which the deployments of a run share. A free place goes to the deployment that has the fewest,
 * so that one whose checks hang keeps no other waiting for long.
 */
export class Places {
  #free: number
  /** The one that got a place last is the last */
  readonly #lines = new Set<Line>()

  constructor(most: number) {
    this.#free = most
  }

  /**
   * Returns what gives turns to the work of one deployment: at most `atOnce`, in the order in which they come. Those
   * that wait give up once none of this deployment has ended in its own time for `waitMs`: checks that hang make
   * others late, but many that are merely slow do not.
   */
  line({ atOnce, waitMs }: Pick<Line, 'atOnce' | 'waitMs'>): Turn {
    const line: Line = { waiting: [], running: 0, atOnce, waitMs, timer: undefined }
    this.#lines.add(line)
    return async (work, late) => {
      await new Promise<void>((resolve, reject) => {
        line.waiting.push({ begin: resolve, giveUp: () => reject(late()) })
        this.#fill()
        watch(line)
      })
      let isHanging = false
      try {
        return await work()
      } catch (error) {
        isHanging = error instanceof AdminError && error.code === 'TIMED_OUT'
        throw error
      } finally {
        line.running -= 1
        this.#free += 1
        if (!isHanging) stopWatch(line)
        this.#fill()
        watch(line)
      }
    }
  }

  #fill(): void {
    while (this.#free > 0) {
      const able = [...this.#lines].filter(({ waiting, running, atOnce }) => waiting.length > 0 && running < atOnce)
      const fewest = Math.min(...able.map(({ running }) => running))
      const line = able.find(({ running }) => running === fewest)
      if (!line) return
      this.#lines.delete(line)
      this.#lines.add(line)
      this.#free -= 1
      line.running += 1
      line.waiting.shift()!.begin()
      watch(line)
    }
  }
}

/** Counts the time only while something waits. */
function watch(line: Line): void {
  if (line.waiting.length === 0) return stopWatch(line)
  line.timer ??= setTimeout(() => {
    stopWatch(line)
    for (const { giveUp } of line.waiting.splice(0)) giveUp()
  }, line.waitMs)
}

function stopWatch(line: Line): void {
  clearTimeout(line.timer)
  line.timer = undefined
}
