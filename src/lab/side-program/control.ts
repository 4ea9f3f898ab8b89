import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { isAlive } from '../../adapters/process-identity.ts'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'
import { AdminError } from '../../core/error.ts'
import type { Lab } from '../lab.ts'
import { labProgram } from '../layout.ts'
import { markOf } from '../servers/local/processes.ts'
import { writePrivate } from '../servers/record.ts'
import { until } from '../service.ts'
import { readReport } from './files.ts'
import type { SideProgram } from './files.ts'

/** Starts a side program, replacing a running one. Returns its report once `isReady` accepts it. Throws FAILED. */
export async function startSideProgram<Report extends ProcessIdentity>(
  lab: Lab,
  side: SideProgram,
  orders: object,
  isReady: (report: Report) => boolean = () => true,
): Promise<Report> {
  const { program, what, folder } = side
  await endSideProgram(side)
  await writePrivate(side.orders, JSON.stringify(orders))
  const [file, ...words] = labProgram(program)
  const child = spawn(file, [...words, folder], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: '/usr/bin:/bin', ...markOf(folder) },
  })
  let failed = false
  child.once('exit', () => (failed = true))
  child.once('error', () => (failed = true))
  child.unref()
  let report: Report | null = null
  await until(lab, `${what} is ready`, async () => {
    if (failed) throw new AdminError('FAILED', `${what} exited`, ['testops-admin lab mend'])
    report = await readReport<Report>(side)
    return report !== null && isReady(report)
  })
  return report!
}

/** Stops a side program and keeps its other files. Returns true if it was running. */
async function endSideProgram(side: SideProgram): Promise<boolean> {
  const report = await readReport<ProcessIdentity>(side)
  // if it has not written its report yet, it exits by itself once its orders are gone
  await rm(side.orders, { force: true })
  await rm(side.report, { force: true })
  if (!report || !(await isAlive(report))) return false
  process.kill(report.pid, 'SIGKILL')
  await until({}, `${side.what} is gone`, async () => !(await isAlive(report)))
  return true
}

/** Stops a side program and removes its folder. Returns true if it was running. */
export async function removeSideProgram(side: SideProgram): Promise<boolean> {
  const ran = await endSideProgram(side)
  await rm(side.folder, { recursive: true, force: true, maxRetries: 5 })
  return ran
}
