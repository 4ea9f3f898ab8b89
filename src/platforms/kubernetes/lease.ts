import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import type { Holder, LockOwner, RepairLock } from '../../core/lock.ts'
import type { KubernetesClient } from './client.ts'
import { livesHere, processName } from './process-name.ts'
import { isRefusal } from './refusal.ts'

/** coordination.k8s.io/v1 */
interface Lease {
  metadata: { name: string; namespace?: string; resourceVersion?: string; annotations?: Record<string, string> | null }
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; acquireTime?: string; renewTime?: string }
}

interface Times {
  /** for how long a holder is believed without another word of it */
  leaseMs: number
  /** how often it is renewed while it is held */
  renewMs: number
}

const name = 'testops-admin'
/** characters of what a holder says of itself, which anybody may have written */
const mostSaid = 255
const usual: Times = { leaseMs: 30_000, renewMs: 8000 }
const annotation = { who: 'testops-admin/who', what: 'testops-admin/what', process: 'testops-admin/process' } as const

/**
 * A lock of all operators on a deployment, wherever they are (DESIGN.md 6.7): a Lease beside the service, renewed while
 * it is held. One that is not renewed any more is taken over: at once where its holder was a process of this machine
 * that is gone, else once it has been seen not to change for as long as it is valid; `signal` gives up that waiting.
 * Throws FORBIDDEN where this user may not hold one, INTERRUPTED, and as the client does.
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
      `this user may not ${verb} leases in namespace \`${namespace}\` of ${client.cluster}`,
      [client.kubectl('auth', 'can-i', verb, 'leases.coordination.k8s.io', '-n', namespace)],
    )
  }
  const identity = `${own.who}/${randomUUID()}`
  /** the version that is ours; null: it is not held */
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
      // a word that was lost on its way may have arrived
      if (isRefusal(error, 409)) version = await versionIfOurs()
      else if (isRefusal(error, 404)) version = null
      else if (!(error instanceof AdminError)) throw error
    }
  }
  const versionIfOurs = async (): Promise<string | null> => {
    const there = await read().catch(() => null)
    if (there?.spec?.holderIdentity !== identity) return null
    // which of our words it was is told by our own clock
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
          // another was faster
          if (!isRefusal(error, 409) || attempt === 3) throw error
        }
      }
      timer = setInterval(() => {
        renewing = renewing.then(async () => renew(begun))
        // what is wrong is told to who asks whether it is held
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
 * Who holds the Lease of a deployment now, as far as this machine's clock tells: one that was not renewed for as long
 * as it is valid counts as free, and so does that of a process of this machine that is gone. Null: nobody, or it may
 * not be read. Takes nothing; throws as the client does.
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

/** A moment by the two clocks of this machine: the steady one stands still while it sleeps, the other may be set. */
interface Moment {
  wall: number
  steady: number
}

function now(): Moment {
  return { wall: Date.now(), steady: performance.now() }
}

/** Milliseconds, by the clock that says more. */
function since({ wall, steady }: Moment): number {
  return Math.max(Date.now() - wall, performance.now() - steady)
}

/**
 * Whether nobody holds it. One whose holder says nothing any more is watched for as long as it is valid, by this
 * machine's clock alone, since the holder's may be another. Throws INTERRUPTED.
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
    `${holderOf(lease).who ?? 'another operator'} holds the lock of this deployment but does not renew it. If it is not renewed within ${Math.ceil(validMs / 1000)} s, this command takes over the lock`,
  )
  for (const end = performance.now() + validMs; performance.now() < end; ) {
    await sleep(Math.min(times.renewMs, end - performance.now()), undefined, { ...(signal && { signal }) }).catch(
      () => undefined,
    )
    if (signal?.aborted)
      throw new AdminError(
        'INTERRUPTED',
        `interrupted while waiting for the lock of ${holderOf(lease).who ?? 'another operator'}`,
      )
    if ((await read())?.metadata.resourceVersion !== lease.metadata.resourceVersion) return false
  }
  return true
}

/** Milliseconds since it was renewed, as two clocks that may differ tell it: negative where the holder's is ahead. */
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

/** As `metav1.MicroTime` is written. */
function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z')
}
