import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { KubernetesClient } from './client.ts'
import { isRefusal } from './refusal.ts'
import type { WorkloadRef } from './scale.ts'

/** Name under which the API server notes this program's writes; those of former versions too, by their `User-Agent`. */
const manager = 'testops-admin'

interface ManagedObject {
  metadata?: { resourceVersion?: string; managedFields?: readonly Entry[] }
}

/** One of `metadata.managedFields`: who set fields, and how (Kubernetes documentation, "Server-Side Apply"). */
interface Entry {
  manager?: string
  operation?: string
}

const attempts = 5
const pauseMs = 200
/** Errors that pass: the list was sorted differently since (422), or the server did not answer in time */
const passing: readonly ErrorCode[] = ['UNEXPECTED_ANSWER', 'UNREACHABLE', 'TIMED_OUT', 'EXHAUSTED']

/**
 * Returns a client for writes to a workload that somebody else keeps. After each write it gives up the fields that this
 * program then owns; their values stay. A field that this program kept would refuse the owner's next server-side apply,
 * and setting the value back would not give it up.
 */
export function withoutOwning(client: KubernetesClient, workload: WorkloadRef): KubernetesClient {
  return {
    ...client,
    async change<T>(...[asked, change]: Parameters<KubernetesClient['change']>) {
      const written = await client.change<T & ManagedObject>(
        { ...asked, query: { ...asked.query, fieldManager: manager } },
        change,
      )
      if (asked.query?.['dryRun'] !== undefined) return written
      try {
        // a subresource does not show who owns the workload's fields
        return await givenUp(client, workload, asked.subresource === undefined ? written : null, written)
      } catch (error) {
        throw error instanceof AdminError ? stillOwned(error, client, workload) : error
      }
    },
  }
}

/** True if this program owns fields of the workload, as when it was killed before it gave them up. */
export async function ownsFields(client: KubernetesClient, workload: WorkloadRef): Promise<boolean> {
  return removals(await client.get<ManagedObject>(workload)).length > 0
}

/**
 * Gives up the fields of the workload that this program owns; harmless if there are none, or the workload is gone.
 * Throws as the client does.
 */
export async function giveUpFields(client: KubernetesClient, workload: WorkloadRef): Promise<void> {
  try {
    await givenUp(client, workload, null, null)
  } catch (error) {
    if (!isRefusal(error, 404)) throw error
  }
}

/**
 * Gives up this program's fields. `seen`: the workload as last seen. Returns its new state, or `written` if it has
 * changed since.
 */
async function givenUp<T>(
  client: KubernetesClient,
  workload: WorkloadRef,
  seen: (T & ManagedObject) | null,
  written: T,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const isFirst = seen !== null && attempt === 1
    try {
      // an interruption must leave no field behind
      const found = isFirst ? seen : await client.lasting.get<ManagedObject>(workload)
      const operations = removals(found)
      if (operations.length === 0) return written
      const version = found.metadata?.resourceVersion
      const body = [
        ...(isFirst && version !== undefined
          ? [{ op: 'replace', path: '/metadata/resourceVersion', value: version }]
          : []),
        ...operations,
      ]
      const now = await client.lasting.change<T>(
        { ...workload, query: { fieldManager: manager } },
        { verb: 'patch', kind: 'json', body },
      )
      return isFirst ? now : written
    } catch (error) {
      const isPassing = isRefusal(error, 409) || (error instanceof AdminError && passing.includes(error.code))
      if (!isPassing || attempt === attempts) throw error
      await sleep(pauseMs * (attempt - 1))
    }
  }
}

/**
 * Returns the patch that removes this program's own entries, the last first; empty if it has none. Takes only entries
 * of operation Update: removing one removes no value. Keeps an entry that is alone in the list: with an empty list, the
 * server notes no owners at all. The next apply would then meet `before-first-apply` in every field.
 */
function removals({ metadata: { managedFields = [] } = {} }: ManagedObject): object[] {
  const own = managedFields.flatMap((entry, index) =>
    entry.manager === manager && entry.operation === 'Update' ? [index] : [],
  )
  const other = managedFields.findIndex((_, index) => !own.includes(index))
  if (other < 0 || own.length === 0) return []
  const entry = (index: number): string => `/metadata/managedFields/${index}`
  return [
    // another entry still exists; its manager may be unnamed
    { op: 'test', path: `${entry(other)}/operation`, value: managedFields[other]!.operation },
    ...own.reverse().flatMap((index) => [
      { op: 'test', path: `${entry(index)}/manager`, value: manager },
      { op: 'test', path: `${entry(index)}/operation`, value: 'Update' },
      { op: 'remove', path: entry(index) },
    ]),
  ]
}

function stillOwned(
  error: AdminError,
  client: KubernetesClient,
  { resource, namespace, name }: WorkloadRef,
): AdminError {
  const what = `${resource.slice(0, -1)}/${name}`
  return new AdminError(
    error.code,
    `${what} was changed, but \`${manager}\` could not remove itself as the owner of the changed fields: ` +
      `${error.message}. The next apply by another program, such as helm, may fail with a conflict`,
    [
      'testops-admin resume -d {deployment}',
      client.kubectl('-n', namespace, 'get', what, '-o', 'yaml', '--show-managed-fields'),
    ],
    { cause: error },
  )
}
