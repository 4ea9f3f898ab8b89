import type { Action, ActionKind } from '../../core/action.ts'
import type { Plan, RepairId } from '../../core/plan.ts'

/** Each kind of step as one letter, so that an order of steps is a word that an expression judges. */
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

/** The orders in which each repair puts its steps (src/repairs). */
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

/** Checks by which each repair's outcome has to be judged; without them a run would end well whatever became of it. */
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

/** Whether an action loses something, which the plan of every repair says. */
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

/** more than any repair makes */
const mostSteps = 200

/** What of a plan's steps, their order and their judges is not this repair's; empty: nothing. */
export function unfitSteps({ repair, steps, verifiedBy }: Plan): string[] {
  if (steps.length > mostSteps) return [`it has ${steps.length} steps`]
  const word = steps.map(({ action }) => letters[action.kind]).join('')
  const silent = steps.findIndex(({ action, loses: told }) => loses(action) && (told ?? '').trim() === '')
  const missing = judges[repair].filter((id) => !verifiedBy.includes(id))
  return [
    ...(orders[repair].test(word)
      ? []
      : [`${repair} has no such steps: ${steps.map(({ action }) => action.kind).join(', ')}`]),
    ...(silent < 0 ? [] : [`step ${silent + 1} does not say what is lost`]),
    ...(missing.length === 0 ? [] : [`nothing in it checks the outcome: ${missing.join(', ')} is missing`]),
  ]
}
