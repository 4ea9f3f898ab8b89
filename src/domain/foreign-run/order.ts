import type { Action, ActionKind } from '../../core/action.ts'
import type { Plan, RepairId } from '../../core/plan.ts'

/** One letter for each kind of step, so that a regular expression can check the order of steps. */
const letters: { readonly [K in ActionKind]: string } = {
  'stop-service': 'S',
  'start-service': 'G',
  'release-lock': 'l',
  'insert-lock-row': 'i',
  'remove-lock-rows': 'r',
  'set-setting': 's',
  'set-secret': 'p',
  'edit-values': 'e',
  'upgrade-release': 'u',
  'fetch-image': 'f',
  'await-rollout': 'w',
  'hold-queues': 'h',
  'keep-queues': 'k',
  'drain-queues': 'd',
  'await-quiet': 'q',
  'move-messages': 'm',
  'delete-queues': 'x',
  'switch-exchanges': 'c',
  'redeclare-queues': 'a',
  'delete-held': 'z',
  'remove-sessions': 'o',
  'migrate-trees': 't',
  'await-migration': 'j',
}

/** The possible orders of steps of each repair (src/repairs). */
const orders: { readonly [K in RepairId]: RegExp } = {
  'unlock-changelog': /^(?:S[li]{1,99}G|[li]{0,99})r{0,99}$/,
  'flush-sessions': /^o$/,
  'reset-queues': /^(?:SsG|hk?d?Sqs?mxc?amzG|Sqs?(?:xc?a|c)G)$/,
  'migrate-trees': /^tj?$/,
  'use-legacy-image': /^(?:e{0,9}|e{0,9}uw|f?Se{0,9}G)$/,
  'set-env': /^(?:[sp]{1,99}|S[sp]{1,99}G)$/,
  'set-env-values': /^(?:e{0,9}|e{0,9}uw)$/,
  'service-stop': /^S$/,
  'service-start': /^G$/,
  'service-restart': /^S?G$/,
}

/** The checks that must verify each repair: without them a run would always succeed. */
const judges: { readonly [K in RepairId]: readonly string[] } = {
  'unlock-changelog': ['database/changelog-lock'],
  'flush-sessions': [],
  'reset-queues': ['broker/queues-durable', 'service/running', 'api/reachable'],
  'migrate-trees': [],
  'use-legacy-image': [],
  'set-env': [],
  'set-env-values': [],
  'service-stop': [],
  'service-start': ['service/running', 'api/reachable'],
  'service-restart': ['service/running', 'api/reachable'],
}

/** True if an action loses something that every plan with it must name. */
function loses(action: Action): boolean {
  switch (action.kind) {
    case 'remove-sessions':
    case 'migrate-trees':
    case 'keep-queues':
      return true
    case 'move-messages':
      return action.direction === 'back'
    case 'redeclare-queues':
      return action.queues.some(({ queue }) => Object.hasOwn(queue.arguments, 'x-expires'))
    default:
      return false
  }
}

/** Maximum number of steps in a plan; more than any repair makes */
const mostSteps = 200

/** Returns how a plan's steps, their order or their checks differ from this repair's; empty if they match. */
export function unfitSteps({ repair, steps, verifiedBy }: Plan): string[] {
  if (steps.length > mostSteps) return [`the run has ${steps.length} steps, but the limit is ${mostSteps}`]
  const word = steps.map(({ action }) => letters[action.kind]).join('')
  const silent = steps.findIndex(({ action, loses: told }) => loses(action) && (told ?? '').trim() === '')
  const missing = judges[repair].filter((id) => !verifiedBy.includes(id))
  return [
    ...(orders[repair].test(word)
      ? []
      : [`${repair} never has these steps in this order: ${steps.map(({ action }) => action.kind).join(', ')}`]),
    ...(silent < 0 ? [] : [`the plan does not say what may be lost in step ${silent + 1} of the run`]),
    ...(missing.length === 0
      ? []
      : [`the plan of the run leaves out checks that are required to verify this repair: ${missing.join(', ')}`]),
  ]
}
