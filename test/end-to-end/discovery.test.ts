import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { faultsOf } from '../output/schemas.ts'
import { composeWorld, recorded } from '../platforms/compose/world.ts'
import type { ComposeWorld, Shown } from '../platforms/compose/world.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

let place: Place
beforeAll(async () => void (place = await freshPlace()))
afterAll(async () => place.remove())

const image = 'registry.example.org/qameta/testops:26.2.1'
const what = `compose project \`testops\` (service testops, image ${image})`
const staging = (shown: Shown): void => {
  shown.Id = 'b'.repeat(64)
  shown.Config.Labels['com.docker.compose.project'] = 'staging'
}
/** The programs of that machine, and no systemd. */
const on = (world: ComposeWorld): { environment: Record<string, string> } => ({
  environment: { PATH: join(world.folder, 'bin') },
})

test('doctor finds the compose project, says which it is and why, and judges it', async () => {
  const world = await composeWorld({ containers: [await recorded('testops'), await recorded('autoheal')] }, {})
  const { stdout, stderr, exitCode } = await place.run(
    ['doctor', '--only', 'service/running', 'service/image', '--json'],
    on(world),
  )
  const report = JSON.parse(stdout) as DoctorReport
  expect(faultsOf('doctor', report)).toEqual([])
  expect([exitCode, stderr]).toEqual([0, `No configuration: using ${what}\n`])
  expect(report).toMatchObject({ deployment: 'testops', found: what, platform: 'compose', build: null })
  expect(report.checks.find(({ id }) => id === 'service/running')).toMatchObject({ status: 'ok' })
  const table = await place.run(['doctor', '--only', 'service/running'], on(world))
  expect(
    table.stdout
      .split('\n')
      .slice(0, 3)
      .join('\n')
      .replace(/in [\d.]+ s/, 'in 0.1 s'),
  ).toBe(
    `testops (compose): 1 check in 0.1 s\nFound without a configuration: compose project \`testops\` (service ` +
      `testops, image\n${image})`,
  )
})

test('every command uses what was found, and --confirm takes its name', async () => {
  const world = await composeWorld({ containers: [await recorded('stopped', ({ State }) => (State['Pid'] = 0))] }, {})
  const status = await place.run(['service', 'status', '--json'], on(world))
  expect([status.exitCode, JSON.parse(status.stdout)]).toMatchObject([
    1,
    { deployment: 'testops', platform: 'compose', state: 'stopped' },
  ])
  const refused = await place.run(['service', 'start', '--json'], on(world))
  expect([refused.exitCode, JSON.parse(refused.stdout)]).toMatchObject([
    4,
    {
      outcome: 'refused',
      plan: { deployment: 'testops' },
      error: { suggestions: ['testops-admin service start --json --confirm testops'] },
    },
  ])
})

test('with two, both are named, and either may be chosen', async () => {
  const world = await composeWorld({ containers: [await recorded('testops'), await recorded('stopped', staging)] }, {})
  const { stdout, exitCode } = await place.run(['doctor', '--json'], on(world))
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    64,
    {
      error: {
        code: 'CONFIGURATION',
        message:
          `found several deployments, but no configuration to select one. Found: \`testops\`, the ${what}; ` +
          `\`staging\`, the ${what.replace('`testops`', '`staging`')}`,
        suggestions: ['testops-admin doctor -d testops', 'testops-admin doctor -d staging'],
      },
    },
  ])
  const chosen = await place.run(['doctor', '-d', 'staging', '--only', 'service/running', '--json'], on(world))
  expect([chosen.exitCode, JSON.parse(chosen.stdout)]).toMatchObject([
    1,
    { deployment: 'staging', rootCauses: ['service/running'] },
  ])
})

test('with none, what was looked at is told', async () => {
  const world = await composeWorld(
    {
      failure: {
        text: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
        code: 1,
      },
    },
    {},
  )
  const { stdout, exitCode } = await place.run(['doctor', '--json'], on(world))
  expect([exitCode, (JSON.parse(stdout) as { error: { message: string } }).error.message]).toEqual([
    64,
    `no configuration found: no testops-admin.yaml in ${place.directory} or above, no ` +
      `${place.directory}/.config/testops-admin/config.yaml; no deployment found either: ` +
      'systemd is not installed; docker is installed, but its engine does not answer: `docker` exited with 1: ' +
      'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?; ' +
      `no cluster is known: kubectl has no configuration in ${place.directory}/.kube/config, and testops-admin ` +
      'does not run in a pod',
  ])
})
