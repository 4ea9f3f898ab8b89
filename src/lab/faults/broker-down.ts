import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { serversOf } from '../lab.ts'
import { stopServer } from '../servers/index.ts'
import { serviceFails } from './consequences.ts'

export const brokerDown: Fault = {
  id: 'broker-down',
  kind: 'fault',
  title: 'the broker is not running',
  repair: 'start RabbitMQ',
  cases: [
    {
      variant: null,
      made: 'RabbitMQ is stopped',
      expected: { exitCode: 1, problems: { 'broker/reachable': 'error' }, allowedConsequences: serviceFails },
      needs: { own: ['rabbitmq'] },
      async apply(lab) {
        await stopServer((await serversOf(lab)).rabbitmq)
      },
      revert: nothing,
    },
  ],
}
