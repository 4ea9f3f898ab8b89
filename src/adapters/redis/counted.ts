import { isDeepStrictEqual } from 'node:util'
import type { SessionSelection } from '../../core/sources.ts'
import type { Counted } from './bulk/count.ts'

/** The last count of this process. A step removes what was counted for its plan, without another look at all keys. */
export interface LastCount {
  keep(counted: Counted): void
  /** Returns the last count if it answers `selection`: the same one a moment ago, or the one made at `asOf` */
  find(selection: SessionSelection): Counted | null
  forget(): void
}

/** milliseconds for which a count is reused if the selection names no time */
const freshMs = 10_000

export function lastCount(): LastCount {
  let last: { counted: Counted; at: number } | null = null
  return {
    keep(counted) {
      last = { counted, at: performance.now() }
    },
    find(selection) {
      if (last === null) return null
      const { selection: of, census } = last.counted
      if (!isDeepStrictEqual(of.which, selection.which) || of.asOf !== null) return null
      const isSameSpace = of.namespace === selection.namespace || census.namespace === selection.namespace
      const isSameTime =
        selection.asOf === null ? performance.now() - last.at < freshMs : selection.asOf === census.asOf
      return isSameSpace && isSameTime ? last.counted : null
    },
    forget() {
      last = null
    },
  }
}
