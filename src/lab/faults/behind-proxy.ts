import { removeSessions } from '../access/sessions.ts'
import type { Lab } from '../lab.ts'
import { stopProxy } from '../reverse-proxy/control.ts'

/** Removes the proxy in front of the service, and the sessions of users who came through it. */
export async function withoutProxy(lab: Lab): Promise<void> {
  await stopProxy(lab.layout)
  await removeSessions(lab)
}
