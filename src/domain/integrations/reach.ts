import { AdminError } from '../../core/error.ts'
import type { ExternalSystem, IntegrationStep } from '../../core/external-system.ts'
import { listed } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'

/** What is known of the place where the service runs. */
export interface ServicePlace {
  /** whether the name resolves there; null: that cannot be asked; an error: why it could not */
  resolves: boolean | null | AdminError
  /** it is another machine than this one, so that what fails from here may work from there */
  isElsewhere: boolean
}

/** Of its name and of the connection. Without a place, no deployment is known. */
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
        ? `is ${listed(addresses, 3)} here`
        : 'has no address here'
  const whether = 'whether it has an address where the service runs'
  const elsewhere =
    there instanceof AdminError
      ? `${whether} cannot be asked: ${there.message}`
      : there === null
        ? `${whether} ${place ? 'cannot be asked' : 'is not asked: no deployment is given'}`
        : `it has ${there ? 'an address' : 'none'} where the service runs`
  const message = `${hostname} ${here}${!isHere && proxy !== null ? `, where the proxy ${proxy} looks names up` : ''}; ${elsewhere}`
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
        : `: the proxy of this machine's environment, through which all else goes; the service has settings of its own`
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
  // from another network it may be reached all the same
  if (proxy !== null || place?.isElsewhere === true)
    return [{ step: 'connection', status: 'unknown', message: `${connection.message}, from here`, next }]
  return [{ step: 'connection', status: 'problem', cause: 'connectivity', message: connection.message, next }]
}
