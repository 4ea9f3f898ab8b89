import type { Lab } from '../lab.ts'
import type { LabLayout } from '../layout.ts'
import { removeSideProgram, startSideProgram } from '../side-program/control.ts'
import { filesIn, usualLimits } from './orders.ts'
import type { ProxyOrders, ProxyReport } from './orders.ts'

/** Puts a reverse proxy in front of the service. Returns its address once it listens. Keeps an earlier proxy's log. */
export async function startProxy(lab: Lab, limits: Partial<Omit<ProxyOrders, 'servicePort'>> = {}): Promise<string> {
  const orders: ProxyOrders = { ...usualLimits, ...limits, servicePort: lab.state.servicePort }
  const { port } = await startSideProgram<ProxyReport>(lab, filesIn(lab.layout.proxy), orders)
  return `http://127.0.0.1:${port}`
}

/** Stops the proxy and removes its files. Returns true if one was running. */
export async function stopProxy(layout: LabLayout): Promise<boolean> {
  return removeSideProgram(filesIn(layout.proxy))
}
