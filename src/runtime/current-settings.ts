import type { Controls } from '../core/controls.ts'
import { AdminError } from '../core/error.ts'
import { once } from '../core/once.ts'
import { readable, settingOf } from './endpoints/context.ts'
import type { ServiceEnvironment } from './endpoints/context.ts'

/**
 * The service's settings as they are now, as far as this process has changed them, or was told that others may have.
 */
export interface CurrentSettings {
  /** asked once for all, and anew after a change */
  environment: () => Promise<ServiceEnvironment>
  /**
   * tells one state of what addresses are made of from another; what cannot be read is as it was. `known`: those that
   * were read at first
   */
  addresses: (known: ServiceEnvironment) => Promise<string>
  /** others may have changed them: they are asked for anew by whoever wants them next */
  renew: () => void
  /** the same control, of which whatever may change the settings has them asked for anew */
  watched: <T extends Controls['service'] | Controls['release']>(control: T) => T
}

/** by which the service's settings name servers, and how they are signed in to */
const ofAddresses = /^SPRING_|_ENDPOINT$/
/** what only looks; the release is not asked for its values by a change */
const changing: ReadonlySet<string> = new Set(['start', 'writeSetting', 'upgrade', 'rollback'])

export function currentSettings(ask: () => Promise<ServiceEnvironment>): CurrentSettings {
  let environment = once(ask)
  let last: string | null = null
  let isChanged = false
  const changed = (): void => {
    environment = once(ask)
    isChanged = true
  }
  return {
    environment: async () => environment(),
    renew: changed,
    async addresses(known) {
      last ??= stateOf(known)
      if (!isChanged) return last
      try {
        const now = readable(await environment())
        isChanged = false
        last = stateOf(now)
      } catch (error) {
        if (!(error instanceof AdminError)) throw error
      }
      return last
    },
    watched: (control) =>
      new Proxy(control, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target)
          if (typeof value !== 'function' || !changing.has(String(property))) return value
          // one that fails may have been carried out
          return async (...input: unknown[]): Promise<unknown> =>
            (Reflect.apply(value, target, input) as Promise<unknown>).finally(changed)
        },
      }),
  }
}

function stateOf(environment: ServiceEnvironment): string {
  const names = [...environment.keys()].filter((name) => ofAddresses.test(name)).sort()
  return JSON.stringify(names.map((name) => [name, settingOf(environment, name)]))
}
