import { AdminError } from '../../core/error.ts'
import type { IntegrationStep, ShownAnswer } from '../../core/external-system.ts'
import { mayHide } from './answer.ts'

/** Judges the answer to the one attempt with credentials. `before`: the answer without them. */
export function signInStep(answer: ShownAnswer | AdminError, before: ShownAnswer | AdminError | null): IntegrationStep {
  const step = 'sign-in'
  if (answer instanceof AdminError) return { step, status: 'unknown', message: answer.message }
  const { status, said, form } = answer
  const refused = (why: string): IntegrationStep => ({
    step,
    status: 'problem',
    cause: 'credentials',
    message: `${said}: ${why}`,
  })
  const open = (why: string): IntegrationStep => ({ step, status: 'unknown', message: `${said}: ${why}` })
  if (status === 401) return refused('the credentials are not accepted')
  if (status === 403)
    return refused('the user may not do this, or sign-in is locked for now, for example after many attempts')
  if (status === 429) return open('it accepts no more attempts for now')
  if (status >= 500) return open('it has an internal error')
  if (status >= 300 && status < 400) return open('it redirects, and credentials are not sent there')
  if (status >= 400 && mayHide(before))
    return {
      step,
      status: 'problem',
      cause: 'api',
      message: `${said}: it does not know this call, even with credentials`,
    }
  if (status >= 400)
    return {
      step,
      status: 'problem',
      cause: 'api',
      message: `${said}: it seems to accept the credentials, but does not know this call`,
    }
  const isOpen = before !== null && !(before instanceof AdminError) && before.status < 300
  if (isOpen) return open('this address answers without credentials too: use one that needs them')
  return form === 'page'
    ? open('a web page: cannot tell whether sign-in worked')
    : { step, status: 'ok', message: `${said}: the credentials are accepted` }
}

/** Returns why sign-in is not tried; null if it may be tried. `before`: the answer without credentials. */
export function keptFromSignIn(
  steps: readonly IntegrationStep[],
  before: ShownAnswer | AdminError | null,
): string | null {
  const first = ['name', 'connection', 'certificate', ...(mayHide(before) ? [] : ['answer'])]
  const stop = steps.find(({ step, status }) => first.includes(step) && status === 'problem')
  if (stop) return `not tried: fix the ${stop.step} first`
  return steps.some(({ step }) => step === 'answer') ? null : 'not tried: it was not reached'
}
