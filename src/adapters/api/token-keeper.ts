import type { HeldToken } from './token.ts'

type Exchange = () => Promise<HeldToken>

/** The Bearer token that all callers of a deployment share. Concurrent callers share one exchange. */
export interface TokenKeeper {
  /**
   * Returns the token. Exchanges it on first use, and renews it shortly before it expires. If the renewal fails, the
   * old token serves until it expires.
   */
  current(exchange: Exchange): Promise<HeldToken>
  /**
   * Returns a token to replace the refused one. Returns null if the refused one was itself a replacement that was never
   * accepted. Another exchange would not help then, and thousands of calls would each make one.
   */
  instead(refused: HeldToken, exchange: Exchange): Promise<HeldToken | null>
  /** Records that the service accepted the token */
  accepted(token: HeldToken): void
}

/** milliseconds without another try after a failed renewal, however many calls there are */
const restMs = 5000

export function tokenKeeper(): TokenKeeper {
  let held: HeldToken | null = null
  /** the exchange in progress, shared by all who wait */
  let underway: Promise<HeldToken> | null = null
  /** the token that was exchanged after a refusal, and not accepted since */
  let suspect: HeldToken | null = null
  /** no renewal begins before this time of the steady clock, in milliseconds */
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
        // a token that was refused meanwhile is no longer held
        if (old === null || held !== old || now >= old.endsAt) throw error
        restsUntil = Math.min(now + restMs, old.endsAt)
        return old
      }
    },
    async instead(refused, exchange) {
      if (suspect === refused) return null
      // another caller may have exchanged a new token already
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
