import type { HeldToken } from './token.ts'

type Exchange = () => Promise<HeldToken>

/** One Bearer token for all who call a deployment. Callers at the same time share one exchange. */
export interface TokenKeeper {
  /**
   * exchanged on first use, and anew shortly before its end; where that fails, the one that there is serves until it
   * ends
   */
  current(exchange: Exchange): Promise<HeldToken>
  /**
   * In place of one that the service no longer accepts; null where that was itself the answer to a refusal, and none
   * but refused: another exchange would not help, and thousands of calls would each make one.
   */
  instead(refused: HeldToken, exchange: Exchange): Promise<HeldToken | null>
  /** the service has accepted it */
  accepted(token: HeldToken): void
}

/** a renewal that failed is not tried again by each of many calls */
const restMs = 5000

export function tokenKeeper(): TokenKeeper {
  let held: HeldToken | null = null
  /** that many wait for */
  let underway: Promise<HeldToken> | null = null
  /** exchanged after a refusal, and not accepted since */
  let suspect: HeldToken | null = null
  /** no renewal is tried before */
  let restsUntil = 0

  const exchanged = async (exchange: Exchange): Promise<HeldToken> =>
    (underway ??= exchange()
      .then((fresh) => (held = fresh))
      .finally(() => (underway = null)))

  return {
    async current(exchange) {
      const old = held
      if (underway === null && old !== null && performance.now() < Math.max(old.renewAt, restsUntil)) return old
      try {
        return await exchanged(exchange)
      } catch (error) {
        const now = performance.now()
        // one that was refused meanwhile is no longer held
        if (old === null || held !== old || now >= old.endsAt) throw error
        restsUntil = Math.min(now + restMs, old.endsAt)
        return old
      }
    },
    async instead(refused, exchange) {
      if (suspect === refused) return null
      // who was refused late finds what another has exchanged meanwhile
      if (held !== null && held !== refused) return held
      if (held === refused) held = null
      const begins = underway === null
      const fresh = await exchanged(exchange)
      if (begins) suspect = fresh
      return fresh
    },
    accepted(token) {
      if (suspect === token) suspect = null
    },
  }
}
