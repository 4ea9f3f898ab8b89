import { AdminError, messageOf } from '../../core/error.ts'
import type { RunEvent, RunHistory, RunLog, RunRecord, RunStore, UnreadableRun } from '../../core/run.ts'
import { assertRunName, isRunName } from '../../core/run.ts'
import { parseEvents, parseRecord } from '../../core/run-record.ts'
import { command } from '../../core/shell-command.ts'
import { parsed } from './bodies.ts'
import type { KubernetesClient } from './client.ts'
import type { ConfigMap } from './objects.ts'
import { isRefusal } from './refusal.ts'

const prefix = 'testops-admin.run.'
const labels = { managedBy: 'app.kubernetes.io/managed-by', purpose: 'testops-admin/purpose' } as const
/** The exact name of a run: names of objects have no capitals */
const annotation = 'testops-admin/run'
/** Maximum bytes of a journal: a ConfigMap takes 1 MiB of data in all (kubernetes.io, "ConfigMaps") */
const mostBytes = 1_000_000
/** ConfigMaps per request */
const page = 20

/**
 * Returns the store of journals beside the workload, where the broker cannot keep them. Each unfinished run has a
 * ConfigMap with its record and one event per line (DESIGN.md 6.6). Each write names the version that it changes, so
 * that two writers are told apart. Throws UNAVAILABLE for a journal that is longer than a ConfigMap may be. `isNeeded`:
 * throws FORBIDDEN if this user may not write them; else nothing is asked yet.
 */
export async function configMapRuns(
  client: KubernetesClient,
  namespace: string,
  { isNeeded }: { isNeeded: boolean },
): Promise<RunStore> {
  const all = { resource: 'configmaps', namespace } as const
  for (const verb of isNeeded ? (['list', 'create', 'patch', 'delete'] as const) : []) {
    if (await client.may(verb, all)) continue
    throw new AdminError(
      'FORBIDDEN',
      `this user has no permission to ${verb} configmaps in namespace \`${namespace}\` of ${client.cluster}`,
      [client.kubectl('auth', 'can-i', verb, 'configmaps', '-n', namespace)],
    )
  }
  return runsIn(client, namespace)
}

function runsIn(client: KubernetesClient, namespace: string): RunStore {
  const all = { resource: 'configmaps', namespace } as const
  const of = (run: string): { resource: 'configmaps'; namespace: string; name: string } => ({
    ...all,
    name: nameOf(run),
  })
  const where = `ConfigMaps in namespace \`${namespace}\` of ${client.cluster}`
  const look = [client.kubectl('-n', namespace, 'get', 'configmaps', '-l', `${labels.purpose}=run`)]

  const found = async (run: string): Promise<ConfigMap> => {
    assertRunName(run)
    return client.get<ConfigMap>(of(run)).catch((error: unknown) => {
      if (!isRefusal(error, 404)) throw error
      throw new AdminError(
        'USAGE',
        `no run \`${run}\` on record in the ${where}`,
        ['testops-admin history -d {deployment}'],
        { cause: error },
      )
    })
  }
  const historyIn = (run: string, { data = {} }: ConfigMap): RunHistory => {
    const place = { where: `ConfigMap \`${nameOf(run)}\` in namespace \`${namespace}\``, look }
    if (data['record'] === undefined)
      throw new AdminError(
        'REFUSED',
        `${place.where} contains no record, so run \`${run}\` stopped before it changed anything`,
        [command`testops-admin discard ${run} -d {deployment}`],
      )
    const record = parseRecord(parsed(data['record']), run, place)
    return {
      record,
      events: parseEvents(linesIn(data['events']).map(parsed), record, place, (index) => `line ${index + 1}`),
    }
  }
  const logTo = (run: string, at: ConfigMap): RunLog => {
    let { resourceVersion } = at.metadata
    const record = at.data?.['record'] ?? ''
    let events = at.data?.['events'] ?? ''
    return {
      async append(...more) {
        const next = events + more.map((event) => `${JSON.stringify(event)}\n`).join('')
        refuseLong(run, record, next, where)
        const write = async (version: string | undefined): Promise<ConfigMap> =>
          client.change<ConfigMap>(of(run), {
            verb: 'patch',
            kind: 'merge',
            body: { metadata: { ...(version !== undefined && { resourceVersion: version }) }, data: { events: next } },
          })
        const written = await write(resourceVersion).catch(async (error: unknown) => {
          if (isRefusal(error, 404))
            throw new AdminError('USAGE', `ConfigMap \`${nameOf(run)}\` in namespace \`${namespace}\` is gone`, look, {
              cause: error,
            })
          if (!isRefusal(error, 409)) throw error
          // somebody may have labelled it, or this very write came through and its answer was lost
          const now = await found(run)
          const held = now.data?.['events'] ?? ''
          if (held === next) return now
          if (held === events && now.data?.['record'] === record) return write(now.metadata.resourceVersion)
          throw new AdminError(
            'REFUSED',
            `somebody else changed the saved record of run \`${run}\` in the ${where}`,
            look,
            {
              cause: error,
            },
          )
        })
        resourceVersion = written.metadata.resourceVersion
        events = next
      },
      close: async () => undefined,
    }
  }
  return {
    where,
    async begin(record, begun = []) {
      assertRunName(record.run)
      const data = dataOf(record, begun)
      refuseLong(record.run, data.record, data.events, where)
      const metadata = {
        name: nameOf(record.run),
        namespace,
        labels: { [labels.managedBy]: 'testops-admin', [labels.purpose]: 'run' },
        annotations: { [annotation]: record.run },
      }
      const made = await client
        .change<ConfigMap>(all, { verb: 'create', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } })
        .catch(async (error: unknown) => {
          if (!isRefusal(error, 409)) throw error
          // the answer to this write was lost; another object of that name is not ours to replace
          const now = await found(record.run)
          if (now.data?.['record'] === data.record && (now.data['events'] ?? '') === data.events) return now
          throw error
        })
      return logTo(record.run, { ...made, data })
    },
    async reopen(run) {
      const at = await found(run)
      historyIn(run, at)
      return logTo(run, at)
    },
    read: async (run) => historyIn(run, await found(run)),
    async list() {
      const items = await client.list<ConfigMap>({
        ...all,
        query: { labelSelector: `${labels.managedBy}=testops-admin,${labels.purpose}=run`, limit: page },
      })
      const runs = items
        .map((it) => ({ it, run: it.metadata.annotations?.[annotation] ?? it.metadata.name }))
        .sort((a, b) => (a.run < b.run ? -1 : 1))
      return runs.map(({ it, run }): RunHistory | UnreadableRun => {
        if (!isRunName(run) || nameOf(run) !== it.metadata.name)
          return {
            run,
            unreadable: `ConfigMap \`${it.metadata.name}\` in namespace \`${namespace}\` is not named after a run`,
          }
        try {
          return historyIn(run, it)
        } catch (error) {
          if (!(error instanceof AdminError)) throw error
          return { run, unreadable: messageOf(error), ...(error.code === 'REFUSED' && { isEmpty: true as const }) }
        }
      })
    },
    async discard(run, save) {
      const { name } = isRunName(run) ? of(run) : { name: run }
      const { data = {}, metadata } = await client.get<ConfigMap>({ ...all, name }).catch((error: unknown) => {
        if (!isRefusal(error, 404)) throw error
        throw new AdminError('USAGE', `no run \`${run}\` on record in the ${where}`, [], { cause: error })
      })
      // any other ConfigMap of that namespace is the service's
      if (metadata.labels?.[labels.purpose] !== 'run')
        throw new AdminError(
          'USAGE',
          `ConfigMap \`${name}\` in namespace \`${namespace}\` is not the saved record of a run`,
          look,
        )
      for (const line of [...(data['record'] === undefined ? [] : [data['record']]), ...linesIn(data['events'])])
        await save(line)
      await client.change(
        { ...all, name },
        { verb: 'delete', body: { preconditions: { resourceVersion: metadata.resourceVersion } } },
      )
    },
    async remove(run) {
      assertRunName(run)
      await client.change(of(run), { verb: 'delete' }).catch((error: unknown) => {
        if (!isRefusal(error, 404)) throw error
      })
    },
  }
}

function dataOf(record: RunRecord, events: readonly RunEvent[]): { record: string; events: string } {
  return { record: JSON.stringify(record), events: events.map((event) => `${JSON.stringify(event)}\n`).join('') }
}

function linesIn(text = ''): string[] {
  return text.split('\n').filter((line) => line !== '')
}

function nameOf(run: string): string {
  return `${prefix}${run.toLowerCase()}`
}

function refuseLong(run: string, record: string, events: string, where: string): void {
  const bytes = Buffer.byteLength(record) + Buffer.byteLength(events)
  if (bytes > mostBytes)
    throw new AdminError(
      'UNAVAILABLE',
      `the saved record of run \`${run}\` is too long for the ${where}: ${bytes} bytes, but at most ` +
        `${mostBytes} bytes fit`,
    )
}
