import type { RepairDocument } from '../../../src/core/repair.ts'
import { planAnswers } from '../../../src/lab/control.ts'
import { admin } from '../../lab/practice-service/support/client.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, onEnd, sql, startService, until } from '../../lab/practice-service/support/deployment.ts'
import type { Started } from '../../lab/practice-service/support/deployment.ts'
import { deploy } from '../support/deploy.ts'
import { operator } from '../support/operator.ts'
import { recordHttp } from '../support/recorders.ts'
import type { Ended, Operator } from '../support/operator.ts'

export interface Trees {
  someone: Operator
  /** what the service was asked, where there is a witness: 'GET /api/project' */
  asked: readonly string[]
  /** how calls are answered from now on; a restart forgets it */
  plan: (plan: Parameters<typeof planAnswers>[1]) => Promise<void>
  /** how often the service took the migration of each tree, 'PROJECT/TREE' */
  taken: () => Promise<Record<string, number>>
  /** a statement on its database */
  query: (text: string) => Promise<unknown[]>
  stop: () => Promise<void>
  start: () => Promise<void>
}

/** The first of the trees that `freshTrees` adds to project 1. */
export const firstTree = 1001

/** The practice service in the test's process, with so many more trees in project 1, and an operator of it. */
export async function freshTrees({
  more = 0,
  user = admin,
  broker = false,
  build = '524u02',
  witness = false,
} = {}): Promise<Trees> {
  const on = await deployment()
  const [port, controlPort] = [await freePort(), await freePort()]
  let service: Started
  const start = async (): Promise<void> => {
    service = await startService(
      { ...on.settings, SERVER_PORT: String(port), SPRING_DATASOURCE_HIKARI_CONNECTION_TIMEOUT: '20000' },
      { controlPort },
    )
  }
  await start()
  await until('the first migration', async () => (await sql(on, 'SELECT 1 FROM tree WHERE NOT migrated')).length === 0)
  // one that the service had to move would be moved when it starts again, too
  await sql(
    on,
    `INSERT INTO tree (id, project_id, name, migrated) SELECT ${firstTree} + n, 1, 'Tree ' || n, TRUE FROM ` +
      `generate_series(0, ${more - 1}) n`,
  )
  await sql(on, 'DELETE FROM async_job')
  const { endpoint, vhost } = on.vhost
  const recorder = witness ? await recordHttp({ host: '127.0.0.1', port }) : null
  onEnd(async () => recorder?.close())
  const deployed = await deploy((secret) => ({
    url: `http://127.0.0.1:${recorder?.port ?? port}`,
    apiToken: secret(user.apiToken),
    platform: 'host',
    build,
    host: { commands: { start: ['true'], stop: ['true'], status: ['true'] } },
    ...(broker && {
      broker: {
        url: `amqp://${endpoint.user}@${endpoint.host}:${endpoint.port}/${vhost}`,
        password: secret(endpoint.password!.reveal()),
        managementUrl: endpoint.managementUrl,
      },
    }),
  }))
  const someone = await operator(deployed)
  onEnd(async () => {
    await someone.leave()
    await deployed.remove()
  })
  return {
    someone,
    asked: recorder?.asked ?? [],
    plan: async (plan) => planAnswers(controlPort, plan),
    async taken() {
      const rows = await sql<{ name: string; times: number }>(
        on,
        "SELECT project_id || '/' || tree_id AS name, count(*)::int AS times FROM async_job GROUP BY 1",
      )
      return Object.fromEntries(rows.map(({ name, times }) => [name, times]))
    },
    query: async (text) => sql(on, text),
    stop: async () => service.stop(),
    start,
  }
}

/** `--tree` for so many of those that were added. */
export function treeWords(count: number): string[] {
  return ['--tree', ...Array.from({ length: count }, (_, index) => `1/${firstTree + index}`)]
}

export function documentOf({ stdout }: Pick<Ended, 'stdout'>): RepairDocument {
  return JSON.parse(stdout.replaceAll(/ --config \S+?\.yaml/g, '')) as RepairDocument
}

/** How it ended, and what came of its calls. */
export function endOf(ended: Ended): object {
  const { outcome, requested, accepted, skipped, failed, error } = documentOf(ended)
  return {
    code: ended.code,
    outcome,
    requested,
    accepted,
    skipped,
    failed,
    ...(error && { error: `${error.code} ${error.message}` }),
  }
}
