import { AdminError, messageOf } from '../core/error.ts'
import type { Lab } from './lab.ts'
import { until } from './service.ts'

/** What the practice service says of itself to the lab, on a door that no check knows. */
export interface ControlState {
  phase: 'starting' | 'waiting-for-lock' | 'migrating' | 'running' | 'stopping'
  clockOffsetMs: number
  responseDelayMs: number
  broker: 'connecting' | 'up' | 'down'
}

/** Null where the door is closed: the service does not run, or not yet. */
async function controlState({ state }: Pick<Lab, 'state'>, port: number = state.controlPort): Promise<ControlState | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/state`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(5000) })
    return answer.ok ? ((await answer.json()) as ControlState) : null
  } catch {
    return null
  }
}

export async function waitForPhase(lab: Lab, phase: ControlState['phase'], port?: number): Promise<void> {
  await until(lab, `the service is ${phase}`, async () => (await controlState(lab, port))?.phase === phase)
}

export async function waitForBroker(lab: Lab, broker: ControlState['broker']): Promise<void> {
  await until(lab, `the service's connection to the broker is ${broker}`, async () => (await controlState(lab))?.broker === broker)
}

/** Changes the running service's clock, or how late it answers. */
export async function setMachine({ state }: Pick<Lab, 'state'>, what: 'clock' | 'delay', ms: number): Promise<void> {
  try {
    const answer = await fetch(`http://127.0.0.1:${state.controlPort}/${what}`, {
      method: 'POST',
      body: JSON.stringify({ ms }),
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(5000),
    })
    await answer.body?.cancel()
    if (answer.ok) return
    throw new Error(`it answers ${answer.status}`)
  } catch (error) {
    throw new AdminError('FAILED', `the practice service does not take orders: ${messageOf(error)}`, ['testops-admin lab mend'], { cause: error })
  }
}
