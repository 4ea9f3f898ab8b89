import { readFile, rename, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../core/error.ts'
import type { ServiceStatus } from '../core/sources.ts'
import { parseProperties, statusOf, stopService } from '../platforms/host/index.ts'
import type { ServiceManager } from '../platforms/host/index.ts'
import { overlayOf } from './changes.ts'
import type { Changes, Processor } from './changes.ts'
import { writeConfiguration } from './configuration.ts'
import { labProgram } from './layout.ts'
import { goOn, serversOf } from './lab.ts'
import type { Lab } from './lab.ts'
import { environmentText, serviceEnvironment, serviceMachine, serviceUrl } from './settings.ts'
import { assertPortFree } from './servers/local/ports.ts'
import { recorded, start, stop, status, writeStatusScript } from './service-control/control.ts'
import { unitIn } from './service-control/unit.ts'
import { writePrivate } from './servers/record.ts'
import { command } from '../core/shell-command.ts'

const timeoutMs = 40_000

type Manager = Pick<ServiceManager, 'status' | 'start' | 'stop'>

/**
 * Returns the manager of the practice service in that folder. It does what the commands of `-d lab` do, without a
 * process for each question.
 */
export async function labService(lab: Pick<Lab, 'layout'>, directory: string = lab.layout.service): Promise<Manager> {
  const unit = unitIn(directory)
  const control = labProgram('lab/service-control.js')
  return {
    status: async () => statusOf(parseProperties((await status(unit)).lines.join('\n')))!,
    start: async () => void (await start(unit, [...control, 'supervise', unit.directory])),
    stop: async () => void (await stop(unit)),
  }
}

/**
 * Writes everything that the service and `-d lab` read: settings, machine, processor, configuration. Faults override
 * the healthy values, and `passing` overrides both for one start.
 */
export async function writeDown(lab: Lab, passing: Changes = {}): Promise<void> {
  const servers = await serversOf(lab)
  const overlay = overlayOf([...lab.state.faults.map(({ changes }) => changes), passing])
  const unit = unitIn(lab.layout.service)
  await writePrivate(lab.layout.cpuinfo, cpuinfoText(overlay.processor))
  await writePrivate(unit.environmentFile, environmentText(serviceEnvironment(lab, servers, overlay)))
  await writePrivate(unit.machineFile, `${JSON.stringify(serviceMachine(lab, overlay), null, 2)}\n`)
  await writeStatusScript(unit)
  await writeConfiguration(lab, servers, overlay)
}

/** Restarts the service with newly written files. Does not wait until it is up: use a `waitFor…` function. */
export async function restartLabService(lab: Lab, passing: Changes = {}): Promise<void> {
  const service = await labService(lab)
  await stopService(service, { timeoutMs })
  goOn(lab)
  await writeDown(lab, passing)
  await service.start({ timeoutMs })
}

export async function stopLabService(lab: Pick<Lab, 'layout'>): Promise<void> {
  await stopService(await labService(lab), { timeoutMs })
}

/** Kills the service without warning, as the kernel or an impatient operator does. Harmless if it is not running. */
export async function killLabService(lab: Lab): Promise<void> {
  const service = await labService(lab)
  for (const { pid } of (await service.status()).instances) if (pid !== null) process.kill(pid, 'SIGKILL')
  await waitUntilEnded(lab)
}

/** Starts the stopped service. Throws UNAVAILABLE if its port is taken. */
export async function startLabService(lab: Lab): Promise<void> {
  await assertPortFree(lab.state.servicePort, 'the practice service')
  await (await labService(lab)).start({ timeoutMs })
}

export async function serviceStatus(lab: Lab): Promise<ServiceStatus> {
  return (await labService(lab)).status()
}

/** Renames the log, so that an earlier fault's lines are not taken for new ones. The service must be stopped. */
export async function rotateLog(lab: Lab): Promise<void> {
  const { logFile } = unitIn(lab.layout.service)
  await rename(logFile, `${logFile}.1`).catch(() => rm(logFile, { force: true }))
}

async function serviceLog(lab: Lab): Promise<string> {
  return readFile(unitIn(lab.layout.service).logFile, 'utf8').catch(() => '')
}

/** Waits until the service answers HTTP requests, healthy or not. Throws FAILED if it exits instead. */
export async function waitUntilServing(lab: Lab): Promise<void> {
  await until(lab, `the service answers at ${serviceUrl(lab)}`, async () => {
    if (await isServing(lab)) return true
    if ((await serviceStatus(lab)).state === 'running' || (await isServing(lab))) return false
    await recorded(unitIn(lab.layout.service))
    const { detail } = await serviceStatus(lab)
    throw new AdminError('FAILED', `the practice service did not start: ${detail}`, [
      command`less ${unitIn(lab.layout.service).logFile}`,
    ])
  })
}

/** Waits until the service has exited, and its status shows how. */
export async function waitUntilEnded(lab: Lab): Promise<void> {
  await until(lab, 'the service exits', async () => (await serviceStatus(lab)).state !== 'running')
  await recorded(unitIn(lab.layout.service))
}

/** Waits until the service's log contains a text. */
export async function waitForLog(lab: Lab, text: string | RegExp): Promise<void> {
  await until(lab, `the service logs ${String(text)}`, async () => {
    const log = await serviceLog(lab)
    return typeof text === 'string' ? log.includes(text) : text.test(log)
  })
}

/** Polls until `isSo` returns true. Throws TIMED_OUT after 40 s, INTERRUPTED. */
export async function until(lab: Pick<Lab, 'signal'>, what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + timeoutMs; ; await sleep(50)) {
    goOn(lab)
    if (await isSo()) return
    if (Date.now() > end)
      throw new AdminError('TIMED_OUT', `timed out after ${timeoutMs / 1000} s, waiting until ${what}`, [
        'testops-admin lab status',
        'testops-admin lab mend',
      ])
  }
}

/** True if the service answers HTTP requests. */
export async function isServing(lab: Lab): Promise<boolean> {
  try {
    const answer = await fetch(`${serviceUrl(lab)}/api/management/health/liveness`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(5000),
    })
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}

const common =
  'fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht ' +
  'syscall nx rdtscp lm constant_tsc rep_good nopl'
const v2 = `${common} pni pclmulqdq ssse3 cx16 sse4_1 sse4_2 x2apic popcnt aes hypervisor lahf_lm`

const models: Readonly<Record<Processor, { name: string; flags: string }>> = {
  'x86-64-v3': {
    name: 'Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz',
    flags: `${v2} fma movbe xsave avx f16c rdrand abm bmi1 avx2 bmi2 erms`,
  },
  // the same processor as a virtual machine of type x86-64-v2-AES sees it (FIELD-NOTES.md 5)
  'x86-64-v2': { name: 'QEMU Virtual CPU version 2.5+', flags: v2 },
}

/** Returns a /proc/cpuinfo with two such processors, so that the lab is the same on every machine. */
function cpuinfoText(processor: Processor): string {
  const { name, flags } = models[processor]
  const one = (number: number): string =>
    [`processor\t: ${number}`, 'vendor_id\t: GenuineIntel', `model name\t: ${name}`, 'flags\t\t: ' + flags].join('\n')
  return `${one(0)}\n\n${one(1)}\n\n`
}
