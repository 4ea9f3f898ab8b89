import type { Trial } from '../../core/broker-control.ts'
import { AdminError } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import { lackedPermission } from '../../domain/queues/permissions.ts'
import { tolerant } from '../../domain/wanted.ts'
import type { Workshop } from '../handler.ts'

/**
 * Throws FORBIDDEN for the first permission that the user lacks for this work, if the broker shows the user's
 * permissions at all. `holding`: temporary queues that will be declared.
 */
export async function assertPermitted(
  open: Workshop['open'],
  { holding = [], ...of }: Trial & { holding?: readonly string[] },
): Promise<void> {
  const broker = await open.broker()
  const permissions = await tolerant(broker.permissions())
  const lacked = permissions && lackedPermission(permissions, of, holding)
  if (!lacked) return
  const { user, vhost, target } = broker
  throw new AdminError(
    'FORBIDDEN',
    `user ${user} has no ${lacked.right} permission on ${lacked.object} (RabbitMQ at ${target})`,
    [command`rabbitmqctl set_permissions -p ${vhost} ${user} ${'.*'} ${'.*'} ${'.*'}   # on the broker`],
  )
}
