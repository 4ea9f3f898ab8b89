import { Client } from 'pg'
import type { ServerRecord } from '../../../src/lab/servers/index.ts'

/** Connects to a server of the test run as its administrator. */
export async function withDatabase<T>(
  { host, port, user, password, database }: Pick<ServerRecord, 'host' | 'port' | 'user' | 'password' | 'database'>,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ host, port, user, password, database })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
