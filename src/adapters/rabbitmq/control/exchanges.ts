import type { Declared } from '../../../core/broker-control.ts'
import type { ExchangeDeclaration } from '../../../core/topology.ts'
import { refusal } from '../refusal.ts'
import { typedArguments } from './arguments.ts'
import type { On } from './queues.ts'

export async function declareExchange({ link, endpoint }: On, exchange: ExchangeDeclaration): Promise<Declared> {
  const { name, type, durable, autoDelete, internal, arguments: given } = exchange
  const [declared = 'otherwise'] = await link.each<ExchangeDeclaration, Declared>(
    [exchange],
    async (channel) => {
      await channel.assertExchange(name, type, { durable, autoDelete, internal, arguments: typedArguments(given) })
      return 'declared'
    },
    (reply) => {
      if (reply.code === 406 && reply.text.startsWith('inequivalent arg')) return 'otherwise'
      throw refusal(reply, endpoint, `declaring exchange ${name}`)
    },
  )
  return declared
}

export async function deleteExchange({ link, endpoint }: On, name: string): Promise<void> {
  await link.each<string, void>(
    [name],
    async (channel) => void (await channel.deleteExchange(name)),
    (reply) => {
      if (reply.code !== 404) throw refusal(reply, endpoint, `deleting exchange ${name}`)
    },
  )
}
