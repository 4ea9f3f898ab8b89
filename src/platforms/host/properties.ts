import { hostname } from 'node:os'
import { moment } from '../../core/format.ts'
import type { InstanceEnd, ServiceHealth, ServiceInstance, ServiceStatus } from '../../core/sources.ts'

/** What `systemctl show` prints: `Name=value` lines; a name may occur several times. */
export type Properties = ReadonlyMap<string, readonly string[]>

export function parseProperties(text: string): Properties {
  const properties = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+)=(.*?)\r?$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) properties.set(name, [...(properties.get(name) ?? []), value])
  }
  return properties
}

/** Returns the state that the properties of a unit show; null if they show none. */
export function statusOf(properties: Properties): ServiceStatus | null {
  const active = one(properties, 'ActiveState')
  if (!active) return null
  const instances = instancesOf(properties)
  const sub = one(properties, 'SubState')
  return {
    state: stateOf(active, sub),
    detail: detailOf(active, properties, instances[0]),
    instances,
    ...(isBetweenStarts(sub) && { startsAgain: true }),
  }
}

export function one(properties: Properties, name: string): string {
  return properties.get(name)?.[0] ?? ''
}

function stateOf(active: string, sub: string): ServiceStatus['state'] {
  if (active === 'failed' || isBetweenStarts(sub)) return 'failed'
  return active === 'inactive' || active === 'maintenance' ? 'stopped' : 'running'
}

/** True between two attempts of Restart=: the unit is `activating`, yet nothing runs. */
function isBetweenStarts(sub: string): boolean {
  return sub === 'auto-restart' || sub === 'auto-restart-queued'
}

function detailOf(active: string, properties: Properties, instance: ServiceInstance | undefined): string {
  const sub = one(properties, 'SubState')
  const state = sub ? `${active} (${sub})` : active
  const result = one(properties, 'Result')
  const exit = one(properties, 'ExecMainStatus')
  const restarts = Number(one(properties, 'NRestarts') || 0)
  return [
    state,
    instance?.pid ? `process ${instance.pid}` : '',
    instance?.startedAt ? `since ${moment(instance.startedAt)}` : '',
    instance || !result || result === 'success' ? '' : `result ${result}`,
    instance || !exit || exit === '0' ? '' : `exit status ${exit}`,
    restarts > 0 ? `restarted ${restarts} ${restarts === 1 ? 'time' : 'times'}` : '',
  ]
    .filter(Boolean)
    .join(', ')
}

function instancesOf(properties: Properties): ServiceInstance[] {
  const pid = Number(one(properties, 'MainPID') || 0)
  if (!(pid > 0)) return []
  const startedAt = parseTimestamp(one(properties, 'ExecMainStartTimestamp'))
  return [{ name: one(properties, 'Id') || `process ${pid}`, host: hostname(), pid, startedAt }]
}

/** Parses `Fri 2026-11-20 12:00:00 UTC` (systemd under TZ=UTC), `@1795000000`, or an ISO time with its zone. */
function parseTimestamp(text: string): Date | null {
  const printed = /(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?) UTC$/.exec(text.trim())
  const unix = /^@(\d+(?:\.\d+)?)$/.exec(text.trim())
  const iso = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/.test(text.trim())
  const date = printed
    ? new Date(`${printed[1]}T${printed[2]}Z`)
    : unix
      ? new Date(Number(unix[1]) * 1000)
      : iso
        ? new Date(text.trim())
        : null
  return date && !Number.isNaN(date.getTime()) ? date : null
}

/**
 * Reads the health of a unit's one process from the unit's properties. Systemd itself asks no process whether it is
 * ready to serve.
 */
export function healthOf(properties: Properties): ServiceHealth {
  const status = statusOf(properties)
  const restarts = Number(one(properties, 'NRestarts') || 0)
  const startedAt = parseTimestamp(one(properties, 'ExecMainStartTimestamp'))
  const isUp = (status?.instances.length ?? 0) > 0
  const ended = isUp
    ? restartedAt(restarts, startedAt)
    : status?.state === 'failed'
      ? endOf(properties, startedAt)
      : null
  if (!isUp && ended === null) return { wanted: null, instances: [], said: [] }
  const name = status?.instances[0]?.name ?? (one(properties, 'Id') || 'the service')
  return {
    wanted: null,
    said: [],
    instances: [{ name, isUp, isReady: null, startedAt: isUp ? startedAt : null, waits: null, ended, restarts }],
  }
}

/** Returns the end of the run before: of a process that runs, systemd shows only that it was restarted. */
function restartedAt(restarts: number, startedAt: Date | null): InstanceEnd | null {
  return restarts > 0 ? { reason: '', exitCode: null, startedAt: null, at: startedAt } : null
}

/**
 * Reads how the process ended. `ExecMainCode` is the kind of end of waitid(2): 1 if it exited; 2 and 3 for a signal,
 * whose number is `ExecMainStatus`.
 */
function endOf(properties: Properties, startedAt: Date | null): InstanceEnd {
  const result = one(properties, 'Result')
  const status = one(properties, 'ExecMainStatus')
  const isSignal = /^[23]$/.test(one(properties, 'ExecMainCode'))
  const reason = isSignal
    ? `signal ${status}${result === 'signal' ? '' : `, ${result}`}`
    : result === 'exit-code' || result === 'success'
      ? ''
      : result
  return {
    reason,
    exitCode: isSignal || status === '' ? null : Number(status),
    startedAt,
    at: parseTimestamp(one(properties, 'ExecMainExitTimestamp')),
  }
}
