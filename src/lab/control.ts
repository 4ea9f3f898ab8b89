import { AdminError, messageOf } from '../core/error.ts'
import type { Lab } from './lab.ts'
import type { PlannedAnswer } from './practice-service/http/planned-answers.ts'
import { until } from './service.ts'

/** The practice service's state, as it reports it on a control port that no check knows. */
export interface ControlState {
  phase: 'starting' | 'waiting-for-lock' | 'migrating' | 'running' | 'stopping'
  clockOffsetMs: number
  responseDelayMs: number
  broker: 'connecting' | 'up' | 'down'
}

/** Reads the state from the control port. Null if the port does not answer: the service is not running, or not yet. */
async function controlState(
  { state }: Pick<Lab, 'state'>,
  port: number = state.controlPort,
): Promise<ControlState | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/state`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(5000),
    })
    return answer.ok ? ((await answer.json()) as ControlState) : null
  } catch {
    return null
  }
}

export async function waitForPhase(lab: Lab, phase: ControlState['phase'], port?: number): Promise<void> {
  await until(
    lab,
    `the service is ${phase.replaceAll('-', ' ')}`,
    async () => (await controlState(lab, port))?.phase === phase,
  )
}

export async function waitForBroker(lab: Lab, broker: ControlState['broker']): Promise<void> {
  await until(
    lab,
    `the service's connection to the broker is ${broker}`,
    async () => (await controlState(lab))?.broker === broker,
  )
}

/** Changes the running service's clock offset, or its delay before each answer, in milliseconds. */
export async function setMachine({ state }: Pick<Lab, 'state'>, what: 'clock' | 'delay', ms: number): Promise<void> {
  await order(state.controlPort, what, { ms })
}

/**
 * Makes the running service answer calls by this plan from now on. Replaces an earlier plan; an empty one ends it.
 * `port` is the control port. A restart forgets the plan.
 *
 * await planAnswers(port, [{ method: 'POST', path: '/api/project/7/*', times: 2, status: 429, headers: { 'Retry-After':
 * '1' } }])
 */
export async function planAnswers(port: number, plan: readonly PlannedAnswer[]): Promise<void> {
  await order(port, 'answers', plan)
}

/** Returns how often each answer of the plan has been given so far, in the plan's order. */
export async function answersGiven(port: number): Promise<readonly number[]> {
  return (await order(port, 'answers')) as readonly number[]
}

/** Imports results of these tests into a project. Returns the ids of their test cases. */
export async function importResults(
  { state }: Pick<Lab, 'state'>,
  projectId: number,
  fullNames: readonly string[],
): Promise<readonly number[]> {
  return ((await order(state.controlPort, 'import', { projectId, fullNames })) as { ids: readonly number[] }).ids
}

/** Moves a test case to another project. Returns null, or the service's message if it refuses. */
export async function moveTestCase(
  { state }: Pick<Lab, 'state'>,
  testCase: number,
  projectId: number,
): Promise<string | null> {
  return ((await order(state.controlPort, 'move', { testCase, projectId })) as { refusal: string | null }).refusal
}

/** Makes one call at the control port: a POST with a body, else a GET. Throws FAILED. */
async function order(port: number, path: string, body?: unknown): Promise<unknown> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(5000),
    })
    const said: unknown = await answer.json()
    if (answer.ok) return said
    throw new Error(`status ${answer.status}: ${(said as { error: string }).error}`)
  } catch (error) {
    throw new AdminError(
      'FAILED',
      `the lab could not control the practice service: ${messageOf(error)}`,
      ['testops-admin lab mend'],
      { cause: error },
    )
  }
}
