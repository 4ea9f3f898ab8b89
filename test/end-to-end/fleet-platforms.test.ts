import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FleetDocument } from '../../src/output/doctor/fleet.ts'
import { isExamined } from '../../src/output/doctor/fleet.ts'
import { faultsOf } from '../output/schemas.ts'
import { composeProject } from './compose-world.ts'
import type { ComposeProject } from './compose-world.ts'
import { kubernetesWorld } from './kubernetes-world.ts'
import type { KubernetesWorld } from './kubernetes-world.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

/** Reads the queues of the broker, as commands of its platform. */
const queues = `export default {
  version: 1,
  title: 'the broker has queues',
  reads: ['broker'],
  remedy: { text: 'Look at the log.', commands: ['{logs}'] },
  async run({ broker }) {
    const some = await broker.queues()
    return some.length > 0
      ? { status: 'ok', detail: 'it has some' }
      : { status: 'problem', severity: 'warning', findings: [{ message: 'no queue', evidence: [] }] }
  },
}
`

let place: Place
let world: KubernetesWorld
let project: ComposeProject
beforeEach(async () => {
  place = await freshPlace()
  world = await kubernetesWorld()
  project = await composeProject()
  await expect.poll(world.isReady, { timeout: 20_000 }).toBe(true)
  await mkdir(join(place.directory, 'checks'))
  await place.write('checks/queues.mjs', queues)
  await place.write(
    'testops-admin.yaml',
    `deployments:
  cluster: {platform: kubernetes, checks: [checks/queues.mjs]}
  box: {platform: compose}
  ghost: {platform: kubernetes, kubernetes: {context: nowhere}}
  lost: {platform: compose, compose: {project: other}}
`,
  )
  expect((await run('service', 'start', '-d', 'box', '--confirm', 'box')).exitCode).toBe(0)
})
afterEach(async () => {
  await world.close()
  await project.close()
  await place.remove()
})

const run = async (...words: string[]): Promise<Ended> =>
  place.run(words, { environment: { KUBECONFIG: world.kubeconfig, PATH: join(project.world.folder, 'bin') } })
/** The processors are not known in the cluster, and those of the machine of the tests in the project. */
const all = ['doctor', '--all', '--skip', 'service/cpu-level']
const told = async (...words: string[]): Promise<string> => (await run(...words)).stdout.replace(/\s+/g, ' ')

test('a cluster, a compose project, and two that cannot be found, in one run', async () => {
  const { exitCode, stdout } = await run(...all, '--json')
  const document = JSON.parse(stdout) as FleetDocument
  expect([exitCode, faultsOf('doctor-all', document)]).toEqual([64, []])
  expect(
    document.deployments.map((it) =>
      isExamined(it)
        ? [it.deployment, it.platform, it.build, it.rootCauses, it.summary.unknown]
        : [it.deployment, it.error.code, it.exitCode],
    ),
  ).toEqual([
    ['cluster', 'kubernetes', '526u03', [], 0],
    ['box', 'compose', '527u01', [], 0],
    ['ghost', 'CONFIGURATION', 64],
    ['lost', 'UNAVAILABLE', 69],
  ])
  const text = await told(...all)
  expect(text).toMatch(/✔ ok cluster kubernetes, build 526u03\. Healthy: \d+ ok, \d+ skipped\. ✔ ok box compose, build/)
  expect(text).toMatch(/✖ error ghost Not examined \(exit code 64\): .* kubectl has no context `nowhere` in /)
  expect(text).toMatch(/✖ error lost Not examined \(exit code 69\): .* no docker container of compose project `other` /)
  expect(text).toContain('4 deployments: 2 healthy, 2 not examined. Exit code 64. Next: testops-admin doctor -d ghost')
})

test('own checks of the one on the cluster, through its API server; nothing else is opened', async () => {
  const before = project.world.asked.length
  const text = await told('doctor', '--all', '--only', 'own')
  expect(text).toContain('✔ ok cluster kubernetes, build 526u03. Healthy: 1 ok. - skipped box compose. Nothing was')
  expect(text).toContain('4 deployments: 1 healthy, 3 with nothing examined. Exit code 0.')
  expect(project.world.asked.length).toBe(before)
})

test('a problem of one comes with its repair, and an entry that is wrong before it', async () => {
  await project.database.query(
    "UPDATE databasechangeloglock SET locked = true, lockedby = '1a79b513f312 (172.26.0.10)', lockgranted = now() " +
      "- interval '1 day' WHERE id = 1",
  )
  const two = await run('doctor', '-d', 'cluster', '-d', 'box', '--skip', 'service/cpu-level')
  expect(two.exitCode).toBe(2)
  expect(two.stdout).toContain('        testops-admin unlock-changelog -d box\n')
  expect(two.stdout).toMatch(/\nNext: testops-admin doctor -d box\n$/)

  await appendFile(join(place.directory, 'testops-admin.yaml'), '  wrong: {platfrom: host}\n')
  const text = await told(...all)
  expect(text).toContain(
    'Correct the wrong entries first: until then, other commands refuse the configuration. ' +
      'Next: testops-admin doctor -d wrong',
  )
  const next = await run('doctor', '-d', 'wrong')
  expect([next.exitCode, next.stderr]).toEqual([64, expect.stringContaining('unknown key `platfrom`')])
})
