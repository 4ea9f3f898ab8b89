import type { Controls } from '../core/controls.ts'
import { AdminError } from '../core/error.ts'
import { once } from '../core/once.ts'
import { readable, settingOf } from './endpoints/context.ts'
import type { ServiceEnvironment } from './endpoints/context.ts'

/** The service's current settings, read again after this process has changed them or others may have. */
export interface CurrentSettings {
  /** Returns the settings; reads them once, and again after a change */
  environment: () => Promise<ServiceEnvironment>
  /**
   * Returns a text that changes when the settings behind addresses do; what cannot be read counts as unchanged.
   * `known`: the settings that were read first
   */
  addresses: (known: ServiceEnvironment) => Promise<string>
  /** Reads the settings again on next use, because others may have changed them */
  renew: () => void
  /** Returns the same control; after its changing methods, the settings are read again */
  watched: <T extends Controls['service'] | Controls['release']>(control: T) => T
}

/** Settings that name servers, and how the service signs in to them */
const ofAddresses = /^SPRING_|_ENDPOINT$/
/** Methods that may change settings */
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
          // a call that fails may have changed settings
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
