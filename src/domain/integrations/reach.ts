import { AdminError } from '../../core/error.ts'
import type { ExternalSystem, IntegrationStep } from '../../core/external-system.ts'
import { listed } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'

/** What is known about where the service runs. */
export interface ServicePlace {
  /** True if the name resolves there; null if that cannot be checked; an error: why the check failed */
  resolves: boolean | null | AdminError
  /** True if it is another machine, so that what fails from here may work from there */
  isElsewhere: boolean
}

/** Returns steps about the name and the connection. `place`: null if no deployment is known. */
export function reachSteps(url: URL, system: ExternalSystem, place: ServicePlace | null): IntegrationStep[] {
  return [...nameSteps(url, system, place), ...connectionSteps(url, system, place)]
}

function nameSteps(
  { hostname }: URL,
  { addresses, proxy }: ExternalSystem,
  place: ServicePlace | null,
): IntegrationStep[] {
  if (addresses === null) return []
  const there = place?.resolves ?? null
  const next = [command`getent hosts ${hostname}   # here, and where the service runs`]
  const isHere = !(addresses instanceof AdminError) && addresses.length > 0
  const here =
    addresses instanceof AdminError
      ? addresses.message
      : isHere
        ? `${hostname} resolves to ${listed(addresses, 3)} here`
        : `${hostname} does not resolve here`
  const unknown = 'cannot tell whether it resolves where the service runs'
  const elsewhere =
    there instanceof AdminError
      ? `${unknown}: ${there.message}`
      : there === null
        ? `${unknown}${place ? '' : ': no deployment is given'}`
        : `it ${there ? 'resolves' : 'does not resolve'} where the service runs`
  const message = `${here}${!isHere && proxy !== null ? `, but the proxy ${proxy} resolves names` : ''}; ${elsewhere}`
  if (there === false || (!isHere && there !== true && proxy === null))
    return [{ step: 'name', status: 'problem', cause: 'connectivity', message, next }]
  const isOpen = there instanceof AdminError || (!isHere && proxy === null)
  return [{ step: 'name', status: isOpen ? 'unknown' : 'ok', message, ...(isOpen && { next }) }]
}

function connectionSteps(
  url: URL,
  { connection, proxy }: ExternalSystem,
  place: ServicePlace | null,
): IntegrationStep[] {
  if (connection === null) return []
  if (!(connection instanceof AdminError)) {
    const through =
      proxy === null
        ? ''
        : ". It is the proxy of this machine's environment. All further steps use it; the service has its own settings"
    return [
      {
        step: 'connection',
        status: 'ok',
        message: `${connection.to} accepts connections (${connection.durationMs} ms)${through}`,
      },
    ]
  }
  const next = [
    ...connection.suggestions,
    command`curl -sS -o /dev/null -w '%{http_code}\\n' ${url.href}   # where the service runs`,
  ]
  // it may still be reachable from another network
  if (proxy !== null || place?.isElsewhere === true)
    return [{ step: 'connection', status: 'unknown', message: `${connection.message}, from this machine`, next }]
  return [{ step: 'connection', status: 'problem', cause: 'connectivity', message: connection.message, next }]
}
