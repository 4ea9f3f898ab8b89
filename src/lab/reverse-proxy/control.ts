import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { isAlive } from '../../adapters/process-identity.ts'
import { AdminError } from '../../core/error.ts'
import type { Lab } from '../lab.ts'
import { builtProgram } from '../layout.ts'
import type { LabLayout } from '../layout.ts'
import { markOf } from '../servers/local/processes.ts'
import { writePrivate } from '../servers/private-file.ts'
import { until } from '../service.ts'
import { filesIn, usualLimits } from './orders.ts'
import type { ProxyOrders, ProxyReport } from './orders.ts'

/** Puts a reverse proxy before the service; returns its address once it listens. The log of one that was there before stays. */
export async function startProxy(lab: Lab, limits: Partial<Omit<ProxyOrders, 'servicePort'>> = {}): Promise<string> {
  const { proxy } = lab.layout
  const files = filesIn(proxy)
  await endProxy(lab.layout)
  const orders: ProxyOrders = { ...usualLimits, ...limits, servicePort: lab.state.servicePort }
  await writePrivate(files.orders, JSON.stringify(orders))
  const program = await builtProgram('lab/reverse-proxy/main.js')
  const child = spawn(process.execPath, [program, proxy], { detached: true, stdio: 'ignore', env: { PATH: '/usr/bin:/bin', ...markOf(proxy) } })
  let failed = false
  child.once('exit', () => (failed = true))
  child.once('error', () => (failed = true))
  child.unref()
  let report: ProxyReport | null = null
  await until(lab, 'the reverse proxy listens', async () => {
    if (failed) throw new AdminError('FAILED', 'the reverse proxy ended', ['testops-admin lab mend'])
    report = await reportOf(lab.layout)
    return report !== null
  })
  return `http://127.0.0.1:${report!.port}`
}

/** Ends the proxy and removes what it wrote. Gives whether one ran. */
export async function stopProxy(layout: LabLayout): Promise<boolean> {
  const ran = await endProxy(layout)
  await rm(layout.proxy, { recursive: true, force: true, maxRetries: 5 })
  return ran
}

async function endProxy(layout: LabLayout): Promise<boolean> {
  const files = filesIn(layout.proxy)
  const report = await reportOf(layout)
  // it ends by itself once its orders are gone, should it not have said yet who it is
  await rm(files.orders, { force: true })
  await rm(files.report, { force: true })
  if (!report || !(await isAlive(report))) return false
  process.kill(report.pid, 'SIGKILL')
  await until({}, 'the reverse proxy has gone', async () => !(await isAlive(report)))
  return true
}

async function reportOf({ proxy }: LabLayout): Promise<ProxyReport | null> {
  try {
    return JSON.parse(await readFile(filesIn(proxy).report, 'utf8')) as ProxyReport
  } catch {
    return null
  }
}
