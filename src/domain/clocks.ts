import { traitsOf } from '../knowledge/platforms.ts'
import type { Finding, Outcome, Remedy, Wanted } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError } from '../core/error.ts'
import { typedOn } from '../core/host.ts'
import type { ClockReading, Sources } from '../core/sources.ts'
import { curl, hostOf, psql } from './evidence.ts'
import { listed, span } from '../core/format.ts'
import { had, notConfigured, tolerant } from './wanted.ts'
import { command, nested } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

/**
 * Milliseconds by which clocks may differ beyond what their readings leave open. Tokens live for an hour, so a minute
 * hurts; a few seconds suggest that NTP is missing.
 */
const errorMs = 60_000
const warningMs = 5000

interface Clock extends ClockReading {
  name: string
  host: string
  command: Suggestion
}

type ClockSources = { [K in 'database' | 'sessions' | 'api']: Wanted<Sources[K]> }

/**
 * Compares the clocks of a deployment, including this machine's. If no other clock can be read, throws the error of the
 * first source that failed; skips if none is configured.
 */
export async function judgeClocks({ database, sessions, api }: ClockSources, deployment: Deployment): Promise<Outcome> {
  const here: Clock = { name: 'this machine', host: 'localhost', command: 'date -u', offsetMs: 0, uncertaintyMs: 0 }
  const store = had(sessions)
  const service = had(api)
  const others = await Promise.all([
    ...(had(database) ?? []).map(async (one) => {
      const user = (await tolerant(one.identity()))?.user ?? null
      return reading(one.clock(), 'the database', one, psql(one.target, user, 'SELECT clock_timestamp()'))
    }),
    ...(store ? [reading(store.clock(), 'the session store', store, command`${nested(store.client)} TIME`)] : []),
    ...(service
      ? [reading(service.clock(), 'the service', service, curl(service.target, '/api/management/health', '-sI'))]
      : []),
  ])
  const clocks = [here, ...others.filter((clock) => clock !== null)]
  if (clocks.length === 1) {
    const failed = [database, sessions, api].find((source) => source instanceof AdminError && !notConfigured(source))
    if (failed instanceof AdminError) throw failed
    return { status: 'skipped', reason: "cannot compare clocks: only this machine's clock can be read" }
  }
  return compare(clocks, traitsOf(deployment).sharesMachine)
}

/** Throws REFUSED on an error: what a wrong clock calls stale may be valid, and what it wrote goes bad again. */
export function refuseIfClocksDisagree(outcome: Outcome): void {
  if (outcome.status !== 'problem' || outcome.severity !== 'error') return
  const said = outcome.findings.map(({ message }) => message).join('; ')
  throw new AdminError('REFUSED', `cannot tell which sessions are stale while clocks disagree: ${said}`, [
    'testops-admin doctor -d {deployment} --only service/clocks',
    ...(outcome.remedy?.commands ?? []),
  ])
}

async function reading(
  asked: Promise<ClockReading>,
  part: string,
  { target }: { target: string },
  command: Suggestion,
): Promise<Clock | null> {
  const read = await tolerant(asked)
  return read && { name: `${part} at ${target}`, host: hostOf(target), command, ...read }
}

/** Compares all clocks with the largest group that agrees. If several groups are the largest, calls none wrong. */
function compare(clocks: readonly Clock[], isOwnMachine: boolean): Outcome {
  const groups = clocks.map((clock) => clocks.filter((other) => apart(clock, other) < warningMs))
  const most = Math.max(...groups.map((group) => group.length))
  const largest = groups.filter((group) => group.length === most)
  const majority = largest[0]!
  const isSplit = largest.some((group) => group.every((clock) => !majority.includes(clock)))
  const odd = clocks.filter(
    (clock) => !majority.includes(clock) && majority.every((other) => apart(clock, other) >= warningMs),
  )
  if (odd.length === 0) {
    const widest =
      Math.max(...clocks.map(({ offsetMs }) => offsetMs)) - Math.min(...clocks.map(({ offsetMs }) => offsetMs))
    const uncertain = Math.max(...clocks.map(({ uncertaintyMs }) => uncertaintyMs))
    return {
      status: 'ok',
      detail:
        `${clocks.length} clocks differ by at most ${span(widest)}; each reading is accurate to ` +
        `${span(uncertain)}`,
    }
  }
  const evidence = clocks.flatMap((clock) => [clock.command, `${clock.name}: ${offset(clock.offsetMs)}`])
  const reference = majority[0]!
  const findings = odd.map((clock): Finding => {
    const difference = clock.offsetMs - reference.offsetMs
    const message = isSplit
      ? `the clocks of ${reference.name} and ${clock.name} are ${span(difference)} apart; cannot tell which ` +
        'clock is wrong'
      : `the clock of ${clock.name} is ${span(difference)} ${difference > 0 ? 'ahead of' : 'behind'} ` +
        `${listed(majority.map(({ name }) => name))}`
    return { message, evidence }
  })
  // a wrong clock on a machine outside the deployment harms only the operator's own view
  const isHarmless = (clock: Clock): boolean => clock.name === 'this machine' && !isOwnMachine
  const isError = odd.some((clock) => !isHarmless(clock) && majority.every((other) => apart(clock, other) >= errorMs))
  return {
    status: 'problem',
    severity: isError ? 'error' : 'warning',
    findings: findings as [Finding, ...Finding[]],
    remedy: networkTime(isSplit ? [reference, ...odd] : odd, isSplit),
  }
}

function networkTime(clocks: readonly Clock[], isSplit: boolean): Remedy {
  const hosts = [...new Set(clocks.map(({ host }) => host))]
  const named = listed(clocks.map(({ name }) => (name === 'this machine' ? name : `the machine of ${name}`)))
  return {
    text: isSplit
      ? `Find out which of these machines has the wrong clock, and synchronize it with NTP: ${named}.`
      : `Synchronize the clock with NTP on ${named}.`,
    commands: hosts.flatMap((host) => {
      const [look, mend] = [typedOn(host, 'timedatectl'), typedOn(host, 'sudo timedatectl set-ntp true')]
      return isSplit ? [look, mend] : [mend, look]
    }),
  }
}

/** Returns the milliseconds by which two clocks certainly differ. */
function apart(a: Clock, b: Clock): number {
  return Math.max(0, Math.abs(a.offsetMs - b.offsetMs) - a.uncertaintyMs - b.uncertaintyMs)
}

function offset(milliseconds: number): string {
  if (milliseconds === 0) return 'the reference for the others'
  return `${span(milliseconds)} ${milliseconds > 0 ? 'ahead of' : 'behind'} this machine`
}
