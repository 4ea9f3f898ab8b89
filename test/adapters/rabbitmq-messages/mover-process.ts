// One move in a process of its own, which kills itself at the failpoint that TESTOPS_ADMIN_FAILPOINT names.
import { openMessageMover } from '../../../src/adapters/rabbitmq/messages/index.ts'
import type { BrokerEndpoint } from '../../../src/core/endpoint.ts'
import { failpoints } from '../../../src/core/failpoint.ts'
import { Secret } from '../../../src/core/secret.ts'

const { MOVE = '', ENDPOINT = '', PASSWORD = '', TESTOPS_ADMIN_FAILPOINT } = process.env
const { how, from, to } = JSON.parse(MOVE) as { how: 'aside' | 'back'; from: string; to: string }
const endpoint = { ...(JSON.parse(ENDPOINT) as BrokerEndpoint), password: new Secret(PASSWORD) }

async function run(): Promise<void> {
  const { source, close } = await openMessageMover(endpoint, { timeoutMs: 20_000 })
  const moved = await source[how]({ from, to, failpoint: failpoints(TESTOPS_ADMIN_FAILPOINT) })
  process.stdout.write(JSON.stringify(moved))
  await close()
}
void run()
