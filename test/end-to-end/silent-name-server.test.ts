import { chmod, mkdir, readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { processesWith } from '../support/processes.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

/** A machine on which `getent`, as every program that looks a name up, does this. */
async function machine(getent: string): Promise<{ place: Place; path: string }> {
  const place = await freshPlace({ isApart: true })
  onTestFinished(async () => place.remove())
  const path = join(place.directory, 'bin')
  await mkdir(path)
  await chmod(await place.write('bin/getent', `#!/bin/sh\n${getent}\n`), 0o755)
  return { place, path }
}

test.each([
  { part: 'database', lines: 'database: {url: "postgresql://me@db.corp.invalid/testops"}' },
  { part: 'broker', lines: 'broker: {url: "amqp://me@db.corp.invalid"}' },
  { part: 'sessions', lines: 'sessions: {url: "redis://db.corp.invalid"}' },
  { part: 'api', lines: 'url: "http://db.corp.invalid"' },
])('a name server that is silent keeps nobody from the shell once $part is told of', async ({ part, lines }) => {
  const { place, path } = await machine(`echo "$*" >>"$HOME/words"; exec /bin/sleep 600`)
  await place.write('testops-admin.yaml', `deployments:\n  prod:\n    platform: host\n    ${lines}\n`)
  let toldAt = 0
  const ended = await place.run(['doctor', '--only', `${part}/reachable`, '--timeout', '2', '--json'], {
    environment: { PATH: path },
    meanwhile: (child) => child.stdout?.once('data', () => (toldAt = performance.now())),
  })
  const after = performance.now() - toldAt
  const { checks } = JSON.parse(ended.stdout) as DoctorReport
  expect([ended.exitCode, checks[0]?.findings?.[0]?.message]).toEqual([
    1,
    expect.stringMatching(/within 2 s|in time/) as string,
  ])
  expect(after).toBeLessThan(1500)
  const asked = new Set((await readFile(join(place.directory, 'words'), 'utf8')).trim().split('\n'))
  expect([...asked]).toEqual(['ahosts db.corp.invalid'])
  await expect.poll(() => processesWith([place.directory])).toEqual([])
})

test('a name is asked of the program once', async () => {
  const { place, path } = await machine('echo "$*" >>"$HOME/words"')
  await place.write(
    'testops-admin.yaml',
    `deployments:\n  prod:\n    platform: host\n    url: "http://${hostname()}:1"\n`,
  )
  const ended = await place.run(['doctor', '--only', 'api/reachable', '--timeout', '2', '--json'], {
    environment: { PATH: path },
  })
  expect([ended.exitCode, await readFile(join(place.directory, 'words'), 'utf8')], ended.stdout).toEqual([
    1,
    `ahosts ${hostname()}\n`,
  ])
})
