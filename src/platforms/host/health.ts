import type { InstanceEnd, ServiceHealth } from '../../core/sources.ts'
import type { Properties } from './properties.ts'
import { one, parseTimestamp, statusOf } from './properties.ts'

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
