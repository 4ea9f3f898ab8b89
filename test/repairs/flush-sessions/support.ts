import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { freshRedisDatabase } from '../../servers/index.ts'
import type { FreshRedisDatabase } from '../../servers/index.ts'
import { deploy } from '../support/deploy.ts'
import { operator } from '../support/operator.ts'
import type { Ended, Operator } from '../support/operator.ts'

/** A deployment of which only the session store is known; `more`: of its configuration. Gone when the test ends. */
export async function atStore(
  sessions: object | ((secret: (value: string) => { file: string }) => object),
  more: object = {},
): Promise<Operator> {
  const host = { commands: { start: ['true'], stop: ['true'], status: ['true'] } }
  const deployed = await deploy((secret) => ({
    platform: 'host',
    host,
    ...more,
    sessions: typeof sessions === 'function' ? (sessions as (s: typeof secret) => object)(secret) : sessions,
  }))
  const someone = await operator(deployed)
  onTestFinished(async () => {
    await someone.leave()
    await deployed.remove()
  })
  return someone
}

/** An empty database, and the operator of a deployment that keeps its sessions there. */
export async function ownStore(
  more: object = {},
  sessions: object = {},
): Promise<{ redis: FreshRedisDatabase; client: Redis; someone: Operator }> {
  const redis = await freshRedisDatabase()
  onTestFinished(async () => redis.cleanup())
  const password = redis.endpoint.password?.reveal()
  const someone = await atStore(
    (secret) => ({ url: redis.url, ...(password !== undefined && { password: secret(password) }), ...sessions }),
    more,
  )
  return { redis, client: redis.client, someone }
}

export function documentOf(ended: Ended): RepairDocument {
  return JSON.parse(plain(ended.stdout)) as RepairDocument
}

/** The error that was printed in place of a plan, or beside one. */
export function errorOf({ code, stdout }: Pick<Ended, 'code' | 'stdout'>): object {
  return {
    exit: code,
    ...(JSON.parse(plain(stdout)) as { error?: { code: string; message: string; suggestions: string[] } }).error,
  }
}

/** Without what differs from run to run: the file of the configuration. */
function plain(text: string): string {
  return text.replaceAll(/ --config \S+?\.yaml/g, '')
}

/** What one would want to know of a run: its end, its impact, and what it said. */
export function endOf(ended: Ended): object {
  const { outcome, plan, verification, error } = documentOf(ended)
  return {
    code: ended.code,
    outcome,
    impact: plan.impact,
    verification,
    ...(error && { error: `${error.code} ${error.message}` }),
  }
}

/** Every key with a digest of what it holds, as DUMP has it. */
export async function contents(client: Redis): Promise<Record<string, string>> {
  const keys = (await client.keys('*')).sort()
  const dumps = await Promise.all(keys.map(async (key) => client.dumpBuffer(key)))
  return Object.fromEntries(
    keys.map((key, at) => [
      key,
      createHash('sha1')
        .update(dumps[at] ?? '')
        .digest('hex'),
    ]),
  )
}

/** Commands by name, as the server has counted them, without those that read. */
export async function writesOf(client: Redis): Promise<string[]> {
  const stats = await client.info('commandstats')
  const names = [...stats.matchAll(/^cmdstat_([^:]+):calls=/gm)].map((match) => match[1]!)
  const commands = (await client.call('COMMAND', 'INFO', ...names.map((name) => name.split('|')[0]!))) as [
    string,
    number,
    string[],
  ][]
  return names.filter((_, at) => commands[at]?.[2].includes('write'))
}
