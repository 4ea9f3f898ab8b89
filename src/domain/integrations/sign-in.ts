import { AdminError } from '../../core/error.ts'
import type { IntegrationStep, ShownAnswer } from '../../core/external-system.ts'
import { mayHide } from './answer.ts'

/** What the one attempt with credentials came to; `before`: what was answered without. */
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
    return refused(
      'the credentials are known, and may not do this; or nobody may sign in for now, as after many attempts',
    )
  if (status === 429) return open('it wants no more attempts for now')
  if (status >= 500) return open('it fails by itself')
  if (status >= 300 && status < 400) return open('it sends elsewhere, which is not followed with credentials')
  if (status >= 400 && mayHide(before))
    return {
      step,
      status: 'problem',
      cause: 'api',
      message: `${said}: with credentials, too, it does not know this call`,
    }
  if (status >= 400)
    return {
      step,
      status: 'problem',
      cause: 'api',
      message: `${said}: it lets in, as it seems, and does not know this call`,
    }
  const isOpen = before !== null && !(before instanceof AdminError) && before.status < 300
  if (isOpen) return open('this address answers without credentials just as well: take one that wants a user')
  return form === 'page'
    ? open('a web page: whether somebody is signed in on it cannot be told')
    : { step, status: 'ok', message: `${said}: the credentials are accepted` }
}

/** Why it is not tried; null: it may be. `before`: what was answered without credentials. */
export function keptFromSignIn(
  steps: readonly IntegrationStep[],
  before: ShownAnswer | AdminError | null,
): string | null {
  const first = ['name', 'connection', 'certificate', ...(mayHide(before) ? [] : ['answer'])]
  const stop = steps.find(({ step, status }) => first.includes(step) && status === 'problem')
  if (stop) return `not tried: the ${stop.step} comes first`
  return steps.some(({ step }) => step === 'answer') ? null : 'not tried: it was not reached'
}
