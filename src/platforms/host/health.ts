import type { InstanceEnd, ServiceHealth } from '../../core/sources.ts'
import type { Properties } from './properties.ts'
import { one, parseTimestamp, statusOf } from './properties.ts'

/**
 * How the one process of a unit fares, as its properties show it; systemd itself asks no process whether it is ready to
 * serve.
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

/** A process that runs shows nothing of the one before it but that it was started in its place. */
function restartedAt(restarts: number, startedAt: Date | null): InstanceEnd | null {
  return restarts > 0 ? { reason: '', exitCode: null, startedAt: null, at: startedAt } : null
}

/**
 * `ExecMainCode` is the kind of end of waitid(2): 1 it exited; 2 and 3 a signal, of which `ExecMainStatus` is the
 * number.
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
