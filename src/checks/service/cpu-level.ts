import { traitsOf } from '../../knowledge/platforms.ts'
import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy, Wanted } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { typedOn } from '../../core/host.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { LogsSource, ServiceImage, ServiceSource } from '../../core/sources.ts'
import { images } from '../../knowledge/images.ts'
import { firstLegacyBuild, firstV3Build, isAtLeast, parseBuild } from '../../knowledge/builds.ts'
import { hypervisorAdvice } from '../../knowledge/processors.ts'
import { logSignatures } from '../../knowledge/log-signatures.ts'
import { byHand } from '../../domain/by-hand.ts'
import { serviceFails } from '../support/consequences.ts'
import { grepLog } from '../../domain/evidence.ts'
import { firstLine, listed } from '../../core/format.ts'
import { legacyImageCommands, runningIt } from '../../domain/legacy-image.ts'
import { judgeMachine } from '../../domain/processors.ts'
import type { MachineVerdict } from '../../domain/processors.ts'
import { recentRecords } from '../../domain/service.ts'
import { had, tolerant } from '../../domain/wanted.ts'

export const serviceCpuLevel = defineCheck({
  id: 'service/cpu-level',
  title: 'processors have what the image needs',
  reads: ['service'],
  wants: ['logs'],
  explains: serviceFails,
  async run({ service, logs }, deployment) {
    const image = await service.image()
    const name = image.name ?? images.standard
    if (name === images.legacy) return { status: 'ok', detail: `image ${name} does not need x86-64-v3` }
    if (name !== images.standard) return judgePrivate(name, service, logs)
    const declared = image.build ?? image.tag
    const build = declared === null ? null : parseBuild(declared)
    if (build && !isAtLeast(build, firstV3Build)) {
      return {
        status: 'ok',
        detail:
          `build ${build.label} does not need x86-64-v3: image ${images.standard} needs it only in build ` +
          `${firstV3Build.label} and later`,
      }
    }
    const [machines, status] = await Promise.all([service.machines(), tolerant(service.status())])
    const verdicts = machines.map(judgeMachine)
    const lacking = verdicts.filter(({ hasV3 }) => hasV3 === false)
    const tooOld = build !== null && !isAtLeast(build, firstLegacyBuild)
    const log = await saidInLog(logs)
    const said = log.length > 0
    if (lacking.length === 0) {
      const known = verdicts.filter(({ hasV3 }) => hasV3 === true)
      if (known.length > 0 && known.length === verdicts.length)
        return { status: 'ok', detail: known.map((it) => `${it.name}: ${it.level}`).join('; ') }
      const other = verdicts.find(({ hasV3, level }) => hasV3 === null && level !== 'unknown')
      if (other)
        return {
          status: 'skipped',
          reason: `${other.name} has ${other.level} processors: x86-64 levels do not apply`,
        }
      if (said && status !== null && status.state !== 'running') {
        const message =
          "the service's log reports a processor without x86-64-v3, but the processor's flags are unknown" +
          likely(verdicts)
        return {
          status: 'problem',
          severity: 'error',
          findings: [{ message, evidence: log }],
          remedy: remedyFor(deployment, image, { isVirtual: false, tooOld }),
        }
      }
      throw new AdminError(
        'UNAVAILABLE',
        `the processor flags of ${listed(verdicts.map((it) => it.name)) || "the service's machine"} are ` +
          `unknown${likely(verdicts)}`,
        [
          ...(traitsOf(deployment).provesProcessors
            ? ['testops-admin check-cpu -d {deployment} --prove   # reads the processor flags in a pod on each node']
            : []),
          ...verdicts.map((it) => typedOn(it.name, 'grep -m1 ^flags /proc/cpuinfo')),
        ],
      )
    }
    if (!build && (!said || status?.state === 'running')) {
      const short = lacking.map((it) => `${it.name} lacks ${it.missing.join(', ')}`).join('; ')
      return {
        status: 'skipped',
        reason:
          `cannot tell whether image ${images.standard} needs x86-64-v3: only build ` +
          `${firstV3Build.label} and later builds need it, and its build is unknown; ${short}`,
      }
    }
    const findings = lacking.map((it) => findingFor(it, build?.label ?? null, log))
    const severity = lacking.length < verdicts.length && status?.state === 'running' ? 'warning' : 'error'
    const remedy = remedyFor(deployment, image, { isVirtual: lacking.some((it) => it.isVirtual), tooOld })
    return { status: 'problem', severity, findings: findings as [Finding, ...Finding[]], remedy }
  },
})

/** Names the machines whose labels suggest x86-64-v3. Labels that lack nothing prove nothing (FIELD-NOTES.md 5). */
function likely(verdicts: readonly MachineVerdict[]): string {
  const shown = verdicts.filter(({ by }) => by !== null)
  return shown.length === 0
    ? ''
    : `; according to the ${shown[0]?.by}, x86-64-v3 is likely on ${listed(shown.map(({ name }) => name))}`
}

function findingFor(
  { name, level, missing, isVirtual, hypervisor, by }: MachineVerdict,
  build: string | null,
  log: readonly string[],
): Finding {
  const which = build === null ? `image ${images.standard}` : `image ${images.standard} of build ${build}`
  const virtual = isVirtual
    ? `; ${name} is a virtual machine${hypervisor === null ? '' : ` (${hypervisor})`}, and its hypervisor sets ` +
      'the processor type'
    : ''
  return {
    message: `${name} lacks ${missing.join(', ')} (it has ${level}), but ${which} needs x86-64-v3${virtual}`,
    evidence: [
      typedOn(name, 'grep -m1 ^flags /proc/cpuinfo'),
      `${by ?? 'the flags'} lack ${listed(missing, 9)}${isVirtual ? '; the hypervisor flag is set' : ''}`,
      ...log,
    ],
  }
}

/**
 * Returns the image's own log line about a processor that does not suffice, with the command that shows it; empty if
 * there is none.
 */
async function saidInLog(logs: Wanted<LogsSource>): Promise<readonly Suggestion[]> {
  const said = (await recentRecords(logs)).findLast(({ text }) => logSignatures.cpuLevel.test(text))
  const source = had(logs)
  return said && source ? [grepLog(source, 'x86-64-v3'), lineOf(said.text)] : []
}

/** Judges an image with a private name. Its needs are known only if it has logged that they are not met. */
async function judgePrivate(name: string, service: ServiceSource, logs: Wanted<LogsSource>): Promise<Outcome> {
  const [log, status] = await Promise.all([saidInLog(logs), tolerant(service.status())])
  if (log.length === 0 || status === null || status.state === 'running')
    return { status: 'skipped', reason: `cannot tell which processors image ${name} needs` }
  const message = `the service's log reports a processor without x86-64-v3 (image ${name})`
  const text =
    `Move the service to a machine with x86-64-v3, or switch from ${name} to your own copy of image ` +
    `${images.legacy}. That image is available in build ${firstLegacyBuild.label} and later.`
  return {
    status: 'problem',
    severity: 'error',
    findings: [{ message, evidence: log }],
    remedy: { text, commands: ['{edit}', '{start}', byHand('service/cpu-level')], risk: 'The service restarts.' },
  }
}

function lineOf(text: string): string {
  return firstLine(text.split('\n').find((line) => logSignatures.cpuLevel.test(line)) ?? text)
}

function remedyFor(
  deployment: Deployment,
  image: ServiceImage,
  { isVirtual, tooOld }: { isVirtual: boolean; tooOld: boolean },
): Remedy {
  const wish = tooOld ? { build: firstLegacyBuild.label } : {}
  const machine = isVirtual
    ? `${hypervisorAdvice} Otherwise use`
    : 'Move the service to a machine with x86-64-v3, or use'
  const since = tooOld
    ? ` It is available only in build ${firstLegacyBuild.label} and later, so also upgrade the service.`
    : ''
  const legacy = ` image ${images.legacy}.${since}`
  return {
    text: machine + legacy + runningIt(deployment, image, wish),
    commands: [...legacyImageCommands(deployment, image, wish), byHand('service/cpu-level')],
    risk: 'The service restarts.',
  }
}
