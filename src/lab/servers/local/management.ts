import { request } from 'node:http'
import { request as requestTls } from 'node:https'
import { messageOf } from '../../../core/error.ts'
import type { ServerRecord } from '../types.ts'

/** True if RabbitMQ's HTTP API answers our user. */
export async function managementAnswers(record: ServerRecord): Promise<boolean> {
  try {
    await askManagement(record)
    return true
  } catch {
    return false
  }
}

/**
 * Gets RabbitMQ's overview from its HTTP API. Avoids `fetch`, which keeps its connection open and so delays the
 * broker's stop. Throws an `Error` if it gets no overview.
 */
export function askManagement(record: ServerRecord): Promise<{ rabbitmq_version?: string }> {
  const url = `${record.managementUrl}/api/overview`
  return new Promise((resolve, reject) => {
    const auth = `${record.user}:${record.password}`
    const ask = (url.startsWith('https:') ? requestTls : request)(
      url,
      { auth, agent: false, timeout: 5000 },
      (answer) => {
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.once('error', reject)
        answer.once('end', () => {
          try {
            if (answer.statusCode !== 200) throw new Error(`its HTTP API returned ${answer.statusCode}`)
            resolve(JSON.parse(Buffer.concat(pieces).toString('utf8')) as { rabbitmq_version?: string })
          } catch (error) {
            reject(error instanceof Error ? error : new Error(messageOf(error)))
          }
        })
      },
    )
    ask.once('timeout', () => ask.destroy(new Error('its HTTP API timed out after 5 s')))
    ask.once('error', (error) =>
      reject(new Error(`its HTTP API at ${record.managementUrl}: ${messageOf(error)}`, { cause: error })),
    )
    ask.end()
  })
}
