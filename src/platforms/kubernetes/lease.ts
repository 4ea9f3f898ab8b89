import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import type { Holder, LockOwner, RepairLock } from '../../core/lock.ts'
import type { KubernetesClient } from './client.ts'
import { livesHere, processName } from '../../adapters/process-identity.ts'
import { isRefusal } from './refusal.ts'

/** coordination.k8s.io/v1 */
interface Lease {
  metadata: { name: string; namespace?: string; resourceVersion?: string; annotations?: Record<string, string> | null }
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; acquireTime?: string; renewTime?: string }
}

interface Times {
  /** Milliseconds for which a holder is believed without a renewal */
  leaseMs: number
  /** Milliseconds between renewals while it is held */
  renewMs: number
}

const name = 'testops-admin'
/** Maximum characters of what a holder says of itself, which anyone may have written */
const mostSaid = 255
const usual: Times = { leaseMs: 30_000, renewMs: 8000 }
const annotation = { who: 'testops-admin/who', what: 'testops-admin/what', process: 'testops-admin/process' } as const

/**
 * Returns the lock of all operators on a deployment, on whatever machine (DESIGN.md 6.7): a Lease beside the service,
 * renewed while it is held. `take` takes over a Lease that is no longer renewed. It does so at once if the holder was a
 * process of this machine that is gone, else after the Lease stayed unchanged through its validity. `signal` cancels
 * that wait. Throws FORBIDDEN if this user may not hold one, INTERRUPTED, and as the client does.
 */
export async function leaseLock(
  client: KubernetesClient,
  namespace: string,
  own: LockOwner,
  { signal, times = usual }: { signal?: AbortSignal | undefined; times?: Times } = {},
): Promise<RepairLock> {
  const all = { resource: 'leases', namespace } as const
  const one = { ...all, name } as const
  for (const verb of ['get', 'create', 'update'] as const) {
    if (await client.may(verb, verb === 'create' ? all : one)) continue
    throw new AdminError(
      'FORBIDDEN',
      `this user has no permission to ${verb} leases in namespace \`${namespace}\` of ${client.cluster}`,
      [client.kubectl('auth', 'can-i', verb, 'leases.coordination.k8s.io', '-n', namespace)],
    )
  }
  const identity = `${own.who}/${randomUUID()}`
  /** The version that is ours; null while it is not held */
  let version: string | null = null
  let renewed: Moment = { wall: 0, steady: 0 }
  let timer: NodeJS.Timeout | undefined
  let renewing: Promise<void> = Promise.resolve()

  const ours = async (acquireTime: string): Promise<Lease> => {
    const self = await processName()
    return {
      metadata: {
        name,
        namespace,
        annotations: {
          [annotation.who]: own.who,
          [annotation.what]: own.what,
          ...(self !== null && { [annotation.process]: self }),
        },
      },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(times.leaseMs / 1000),
        acquireTime,
        renewTime: microTime(),
      },
    }
  }
  const put = async (lease: Lease, resourceVersion: string | undefined): Promise<void> => {
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      ...lease,
      metadata: { ...lease.metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
    }
    const asked = now()
    const answer = await client.change<Lease>(resourceVersion === undefined ? all : one, {
      verb: resourceVersion === undefined ? 'create' : 'update',
      body,
    })
    version = answer.metadata.resourceVersion ?? ''
    renewed = asked
  }
  const renew = async (since: string): Promise<void> => {
    if (version === null) return
    try {
      await put(await ours(since), version)
    } catch (error) {
      // a renewal whose answer was lost may have arrived
      if (isRefusal(error, 409)) version = await versionIfOurs()
      else if (isRefusal(error, 404)) version = null
      else if (!(error instanceof AdminError)) throw error
    }
  }
  const versionIfOurs = async (): Promise<string | null> => {
    const there = await read().catch(() => null)
    if (there?.spec?.holderIdentity !== identity) return null
    // our own clock tells which of our renewals it was
    const agoMs = ageOf(there)
    renewed = { wall: Date.now() - agoMs, steady: performance.now() - agoMs }
    return there.metadata.resourceVersion ?? ''
  }
  const read = async (): Promise<Lease | null> =>
    client.get<Lease>(one).catch((error: unknown) => {
      if (isRefusal(error, 404)) return null
      throw error
    })

  return {
    where: `lease ${name} in namespace ${namespace}`,
    async take() {
      const begun = microTime()
      for (let attempt = 0; ; attempt += 1) {
        const there = await read()
        if (there && !(await isFree(there, read, { times, signal, tell: own.tell }))) return holderOf(there)
        try {
          await put(await ours(begun), there?.metadata.resourceVersion)
          break
        } catch (error) {
          // another operator was faster
          if (!isRefusal(error, 409) || attempt === 3) throw error
        }
      }
      timer = setInterval(() => {
        renewing = renewing.then(async () => renew(begun))
        // `isHeld` throws what is wrong
        renewing.catch(() => undefined)
      }, times.renewMs)
      timer.unref()
      return null
    },
    async isHeld() {
      await renewing
      return version !== null && since(renewed) < times.leaseMs
    },
    async release() {
      clearInterval(timer)
      await renewing
      if (version === null) return
      const resourceVersion = version
      version = null
      const free: Lease = {
        metadata: { name, namespace },
        spec: { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() },
      }
      const body = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        ...free,
        metadata: { ...free.metadata, resourceVersion },
      }
      await client.change(one, { verb: 'update', body })
    },
  }
}

/**
 * Returns who holds the Lease of a deployment now, by this machine's clock. It counts as free if it was not renewed
 * while it was valid, or if its holder is a gone process of this machine. Null if nobody holds it, or it may not be
 * read. Takes nothing; throws as the client does.
 */
export async function leaseHolder(client: KubernetesClient, namespace: string): Promise<Holder | null> {
  const lease = await client.get<Lease>({ resource: 'leases', namespace, name }).catch((error: unknown) => {
    if (isRefusal(error, 404) || isRefusal(error, 403)) return null
    throw error
  })
  if (!lease?.spec?.holderIdentity || Math.abs(ageOf(lease)) >= validityOf(lease, usual)) return null
  if ((await livesHere(lease.metadata.annotations?.[annotation.process])) === false) return null
  const { who, what, since } = holderOf(lease)
  return {
    who: who?.slice(0, mostSaid) ?? null,
    what: what?.slice(0, mostSaid) ?? null,
    since: since && !Number.isNaN(since.getTime()) ? since : null,
  }
}

function validityOf({ spec: { leaseDurationSeconds } = {} }: Lease, { leaseMs }: Times): number {
  return leaseDurationSeconds === undefined ? leaseMs : leaseDurationSeconds * 1000
}

/** A moment by both clocks of this machine: the steady one stops while it sleeps, the other may be set. */
interface Moment {
  wall: number
  steady: number
}

function now(): Moment {
  return { wall: Date.now(), steady: performance.now() }
}

/** Returns the milliseconds since that moment, by the clock that says more. */
function since({ wall, steady }: Moment): number {
  return Math.max(Date.now() - wall, performance.now() - steady)
}

/**
 * True if nobody holds it. If its holder does not renew it, watches it for as long as it is valid. Uses this machine's
 * clock alone, since the holder's may differ. Throws INTERRUPTED.
 */
async function isFree(
  lease: Lease,
  read: () => Promise<Lease | null>,
  { times, signal, tell }: { times: Times; signal: AbortSignal | undefined; tell: LockOwner['tell'] },
): Promise<boolean> {
  if (!lease.spec?.holderIdentity) return true
  if ((await livesHere(lease.metadata.annotations?.[annotation.process])) === false) return true
  const validMs = validityOf(lease, times)
  const age = ageOf(lease)
  if (age >= 0 && age < validMs) return false
  tell?.(
    `${holderOf(lease).who ?? 'another operator'} holds the lock of this deployment, but does not renew it. ` +
      `This command takes over the lock after ${Math.ceil(validMs / 1000)} s without renewal`,
  )
  for (const end = performance.now() + validMs; performance.now() < end; ) {
    await sleep(Math.min(times.renewMs, end - performance.now()), undefined, { ...(signal && { signal }) }).catch(
      () => undefined,
    )
    if (signal?.aborted)
      throw new AdminError(
        'INTERRUPTED',
        `interrupted while waiting for the lock that ${holderOf(lease).who ?? 'another operator'} holds`,
      )
    if ((await read())?.metadata.resourceVersion !== lease.metadata.resourceVersion) return false
  }
  return true
}

/** Returns the milliseconds since it was renewed; negative if the holder's clock is ahead, Infinity if it never was. */
function ageOf({ spec: { renewTime } = {} }: Lease): number {
  const at = renewTime === undefined ? Number.NaN : Date.parse(renewTime)
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : Date.now() - at
}

function holderOf({ metadata: { annotations }, spec }: Lease): Holder {
  const since = spec?.acquireTime === undefined ? null : new Date(spec.acquireTime)
  return {
    who: annotations?.[annotation.who] ?? spec?.holderIdentity ?? null,
    since,
    what: annotations?.[annotation.what] ?? null,
  }
}

/** Formats the present time as `metav1.MicroTime`. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z')
}
