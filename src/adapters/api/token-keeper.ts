import type { HeldToken } from './token.ts'

type Exchange = () => Promise<HeldToken>

/** One Bearer token for all who talk to a deployment. However many ask at a time, one exchange is made. */
export interface TokenKeeper {
  /** exchanged on first use, and anew shortly before its end */
  current(exchange: Exchange): Promise<HeldToken>
  /**
   * In place of one that the service no longer accepts; null where that was itself the answer to a refusal, and none but refused:
   * another exchange would not help, and thousands of calls would each make one.
   */
  instead(refused: HeldToken, exchange: Exchange): Promise<HeldToken | null>
  /** the service has accepted it */
  accepted(token: HeldToken): void
}

export function tokenKeeper(): TokenKeeper {
  let held: Promise<HeldToken> | null = null
  /** exchanged after a refusal, and not accepted since */
  let suspect: HeldToken | null = null

  const begin = (exchange: Exchange): Promise<HeldToken> => {
    const fresh = exchange()
    held = fresh
    // a refusal is not kept: the next question asks again
    fresh.catch(() => {
      if (held === fresh) held = null
    })
    return fresh
  }

  return {
    async current(exchange) {
      const known = held
      const token = known === null ? null : await known
      if (token !== null && performance.now() < token.renewAt) return token
      return held === known || held === null ? begin(exchange) : held
    },
    async instead(refused, exchange) {
      if (suspect === refused) return null
      const known = held
      // who was refused late finds what another has exchanged meanwhile
      if (known !== null && (await known) !== refused) return known
      if (held !== known && held !== null) return held
      const fresh = await begin(exchange)
      suspect = fresh
      return fresh
    },
    accepted(token) {
      if (suspect === token) suspect = null
    },
  }
}
