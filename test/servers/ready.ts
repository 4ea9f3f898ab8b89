import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { toldFile } from './servers.ts'

// before each file that needs servers: the first of them wait until they are there
const folder = inject('serversFolder')
const file = toldFile(folder)
while (!existsSync(file)) {
  if (!existsSync(folder)) throw new Error(`the servers of this run were removed while it ran: ${folder} is gone`)
  await sleep(100)
}
const { failed } = JSON.parse(readFileSync(file, 'utf8')) as { failed?: string }
if (failed !== undefined) throw new Error(`the servers of this run did not start: ${failed}`)
