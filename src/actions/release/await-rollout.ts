import { setTimeout as sleep } from 'node:timers/promises'
import { span } from '../../core/format.ts'
import { AdminError } from '../../core/error.ts'
import type { ServiceStatus } from '../../core/sources.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { answerOf, answers, unseenWatch, withLastWords } from '../answers.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

const pollMs = 500

export const awaitRollout: ActionHandler<'await-rollout'> = {
  failpoints: ['up'],
  async isDone(_, workshop) {
    return isUp(await statusOf(workshop), workshop)
  },
  standsAs: async () => 'untold',
  async perform(_, workshop) {
    await untilUp(workshop)
    await workshop.failpoint('up')
  },
  undo: null,
}

/**
 * Returns once all instances run what is declared now, and the service answers. Throws TIMED_OUT with what the
 * instances report, INTERRUPTED, or the error if this machine has no way to the service.
 */
export async function untilUp(workshop: Workshop): Promise<void> {
  const { patienceMs, signal, progress } = workshop
  const end = performance.now() + patienceMs
  progress('waiting until Kubernetes has replaced all old pods and the service answers')
  const refuseUnseen = unseenWatch(patienceMs, 'the service runs, and Kubernetes has replaced all of its old pods')
  for (;;) {
    const status = await statusOf(workshop)
    const answer = isNew(status) && (await answerOf(workshop))
    if (answer === true) return
    refuseUnseen(answer)
    progress(status.detail)
    if (performance.now() > end) throw await withLastWords(notUp(status, patienceMs), workshop)
    if (signal.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for the service to come up')
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
}

async function statusOf({ open }: Workshop): Promise<ServiceStatus> {
  return (await open.service()).status()
}

async function isUp(status: ServiceStatus, workshop: Workshop): Promise<boolean> {
  return isNew(status) && (await answers(workshop))
}

function isNew({ state, isRollingOut }: ServiceStatus): boolean {
  return state === 'running' && isRollingOut !== true
}

function notUp(status: ServiceStatus, patienceMs: number): AdminError {
  const { detail, evidence = [] } = status
  const what = isNew(status) ? 'the service is running but did not answer' : 'the service did not come up'
  const isCommand = (line: string): line is ShellCommand => line.startsWith('kubectl ')
  const said = [detail, ...evidence.filter((line) => !isCommand(line))].join('; ')
  return new AdminError('TIMED_OUT', `${what} within ${span(patienceMs)}: ${said}`, [
    ...evidence.filter(isCommand),
    '{logs}',
    'testops-admin doctor -d {deployment}',
  ])
}
