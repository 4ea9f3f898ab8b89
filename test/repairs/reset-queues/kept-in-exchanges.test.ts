import { expect, test } from 'vitest'
import { exchange } from '../../fakes/broker.ts'
import { resetSteps } from '../../domain/foreign-run/records.ts'

test.each([
  {
    type: 'x-delayed-message',
    loses: 'messages held in exchange later (x-delayed-message), which RabbitMQ deletes together with the exchange',
  },
  {
    type: 'x-recent-history',
    loses: 'messages held in exchange later (x-recent-history), which RabbitMQ deletes together with the exchange',
  },
  { type: 'topic', loses: undefined },
])('what an exchange of type $type keeps is named as lost, where it keeps anything', ({ type, loses }) => {
  const steps = resetSteps({ from: exchange({ name: 'later', durable: false, type }) })
  expect(steps.find(({ action }) => action.kind === 'switch-exchanges')?.loses).toBe(loses)
})
