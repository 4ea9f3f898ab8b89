import { removeSessions } from '../access/sessions.ts'
import type { Lab } from '../lab.ts'
import { stopProxy } from '../reverse-proxy/control.ts'

/** The proxy before the service goes, and with it the sessions of those who came through it. */
export async function withoutProxy(lab: Lab): Promise<void> {
  await stopProxy(lab.layout)
  await removeSessions(lab)
}
