import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { RunRecord } from '../../src/core/run.ts'
import { hashOf } from '../../src/engine/carry-out.ts'
import { failpointsOf } from '../repairs/support/failpoints.ts'
import { decisive } from '../support/campaign.ts'
import { composeProject } from './compose-world.ts'
import type { ComposeProject } from './compose-world.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

const [standard, legacy] = [
  'registry.example.org/qameta/testops:527u01',
  'registry.example.org/qameta/testops-legacy:527u01',
]
// each starts the program many times
vi.setConfig({ testTimeout: 240_000 })

let project: ComposeProject
let place: Place
let before: string
beforeEach(async () => {
  place = await freshPlace()
  project = await composeProject()
  project.world.state.images = new Map([[standard, 'linux/amd64']])
  expect((await run(['service', 'start', '--confirm', 'testops'])).exitCode).toBe(0)
  before = await text()
})
afterEach(async () => {
  await project.close()
  await place.remove()
})

const text = async (): Promise<string> => readFile(join(project.world.folder, 'project/docker-compose.yml'), 'utf8')
const edited = (): string => before.replace('/testops:527u01', '/testops-legacy:527u01')
const registryHas = (what: string | { failure: string }): void =>
  void (project.world.state.registry = { [legacy]: what })

async function run(words: readonly string[], failpoint?: string): Promise<Ended> {
  return place.run(words, {
    environment: {
      PATH: join(project.world.folder, 'bin'),
      ...(failpoint !== undefined && { TESTOPS_ADMIN_FAILPOINT: failpoint }),
    },
  })
}

async function repair(
  words: readonly string[],
  failpoint?: string,
): Promise<{ code: number | null; outcome?: string; document: RepairDocument | null }> {
  const { exitCode, stdout } = await run([...words, '--confirm', 'testops', '--json'], failpoint)
  const document = stdout === '' ? null : (JSON.parse(stdout) as RepairDocument)
  return { code: exitCode, ...(document && { outcome: document.outcome }), document }
}

/** What the file says, what runs, and what the engine was asked since. */
function stand(): { runs: string | undefined; image: string | undefined; stops: number; fetches: number } {
  const own = project.world.state.containers.find(
    ({ Config }) => Config.Labels['com.docker.compose.service'] === 'testops',
  )
  const count = (word: string): number => project.world.asked.filter((it) => it.split(' ')[0] === word).length
  return {
    runs: own?.State['Status'] as string,
    image: own?.Config.Image,
    stops: count('stop'),
    fetches: count('pull'),
  }
}

/** The name of the last run. */
async function newest(): Promise<string> {
  return (await run(['history'])).stdout
    .match(/\d{8}T\d{6}Z-use-legacy-image-\w+/g)!
    .sort()
    .at(-1)!
}

const apply = ['use-legacy-image', '--apply']

test(
  'the image is fetched before the service is stopped; undo takes back the rest, and an image that is there is ' +
    'not fetched again',
  async () => {
    registryHas('linux/amd64')
    const dry = await run([...apply, '--dry-run'])
    expect([dry.exitCode, stand().fetches, (dry.stdout + dry.stderr).replaceAll(/\s+/g, ' ')]).toEqual([
      0,
      0,
      expect.stringContaining(`fetch image ${legacy}, unless this machine already has it`) as string,
    ])
    const { code, document } = await repair(apply)
    expect([code, document?.applied.map(({ status }) => status)]).toEqual([0, ['done', 'done', 'done', 'done']])
    const asked = project.world.asked.map((it) => it.split(' ')[0])
    expect([asked.indexOf('pull') < asked.indexOf('stop'), await text(), stand()]).toEqual([
      true,
      edited(),
      { runs: 'running', image: legacy, stops: 1, fetches: 1 },
    ])
    expect((await repair(['undo', document!.run!])).code).toBe(0)
    expect([await text(), stand().image, project.world.state.images?.has(legacy)]).toEqual([before, standard, true])
    const again = await repair(apply)
    expect([
      again.code,
      again.document?.applied[0]?.status,
      again.document?.plan?.notes.join(),
      stand().fetches,
    ]).toEqual([
      0,
      'already',
      expect.stringContaining('is already on this machine, so the repair does not fetch it') as string,
      1,
    ])
  },
)

test.each([
  {
    what: 'no such tag',
    failure: `Error response from daemon: manifest for ${legacy} not found: manifest unknown: manifest unknown`,
    code: 4,
    outcome: 'refused',
  },
  {
    what: 'a login is wanted',
    failure:
      'Error response from daemon: Head ' +
      '"https://registry.example.org/v2/qameta/testops-legacy/manifests/527u01": no basic auth credentials',
    code: 69,
    outcome: 'failed',
  },
  {
    what: 'a full disk',
    failure: 'failed to register layer: write /big: no space left on device',
    code: 1,
    outcome: 'failed',
  },
])('$what: nothing is changed, and the run is over', async ({ failure, code, outcome }) => {
  registryHas({ failure })
  const { code: is, document } = await repair(apply)
  expect([is, document?.outcome, document?.error?.message]).toEqual([
    code,
    outcome,
    expect.stringMatching(/^cannot fetch image \S+: .*Nothing was changed/) as string,
  ])
  expect([await text(), stand()]).toEqual([before, { runs: 'running', image: standard, stops: 0, fetches: 1 }])
  expect((await repair(['resume'])).outcome).toBe('nothing-to-do')
  registryHas('linux/amd64')
  expect((await repair(apply)).code).toBe(0)
})

test('killed at an instant of the step, the run is resumed, or taken back', async () => {
  registryHas('linux/amd64')
  const instants = failpointsOf(['fetch-image']).filter((name) => name.startsWith('fetch-image:'))
  expect(instants.length).toBeGreaterThan(3)
  for (const [index, instant] of decisive(instants, 3).entries()) {
    project.world.state.images!.delete(legacy)
    const killed = await repair(apply, instant)
    expect([instant, killed.code, await text(), stand().runs]).toEqual([instant, null, before, 'running'])
    const id = await newest()
    if (index % 2 === 0) {
      expect([instant, (await repair(['resume'])).outcome, await text(), stand().image]).toEqual([
        instant,
        'done',
        edited(),
        legacy,
      ])
    }
    expect([instant, (await repair(['undo', id])).outcome, await text(), stand().image, stand().runs]).toEqual([
      instant,
      'done',
      before,
      standard,
      'running',
    ])
  }
})

test(
  'an image that was removed again since is fetched again by the resume, ' + 'before the service is stopped',
  async () => {
    registryHas('linux/amd64')
    await repair(apply, 'stop-service:before')
    project.world.state.images!.delete(legacy)
    expect([(await repair(['resume'])).outcome, stand()]).toEqual([
      'done',
      { runs: 'running', image: legacy, stops: 1, fetches: 2 },
    ])
  },
)

/**
 * A run that the version left which fetched no image: killed as it had written the file, its service stopped, with no
 * copy of it in the deployment. Recorded of it; paths and users are renamed.
 */
const former = '20261126T005246Z-use-legacy-image-0926'

async function leaveFormerRun(): Promise<void> {
  const runs = join(place.directory, '.local/state/testops-admin/testops/runs', former)
  await mkdir(runs, { recursive: true, mode: 0o700 })
  for (const name of ['run.json', 'journal.jsonl']) {
    const recorded = await readFile(
      join(import.meta.dirname, '../fixtures/journals/use-legacy-image', former, name),
      'utf8',
    )
    await writeFile(join(runs, name), recorded.replaceAll('/opt/testops', join(project.world.folder, 'project')), {
      mode: 0o600,
    })
  }
}

test.each([
  { way: 'resume', isWritten: true },
  { way: 'resume', isWritten: false },
  { way: 'undo', isWritten: true },
  { way: 'undo', isWritten: false },
] as const)(
  'a run that a former version left half done, its file written: $isWritten: $way',
  async ({ way, isWritten }) => {
    await run(['service', 'stop', '--confirm', 'testops'])
    await leaveFormerRun()
    if (isWritten) await writeFile(join(project.world.folder, 'project/docker-compose.yml'), edited())
    const { outcome, document } = await repair([way, former])
    expect([outcome, document?.error, document?.plan?.steps.map(({ action }) => action.kind)]).toEqual([
      'done',
      undefined,
      ['stop-service', 'edit-values', 'start-service'],
    ])
    expect([await text(), stand()]).toMatchObject([
      way === 'resume' ? edited() : before,
      { runs: 'running', image: way === 'resume' ? legacy : standard, fetches: 0 },
    ])
  },
)

test('a plan that a former version saved, without the step that fetches, is refused with what differs', async () => {
  registryHas('linux/amd64')
  await leaveFormerRun()
  const recorded = JSON.parse(
    await readFile(join(place.directory, '.local/state/testops-admin/testops/runs', former, 'run.json'), 'utf8'),
  ) as RunRecord
  await rm(join(place.directory, '.local/state/testops-admin/testops/runs', former), { recursive: true })
  const { expectedMs: _, ...plan } = recorded.plan
  const { fetches } = stand()
  const { code, document } = await repair([
    'apply',
    await place.write('plan.json', JSON.stringify({ schemaVersion: 1, run: null, hash: hashOf(plan), plan })),
  ])
  expect([
    code,
    document?.outcome,
    document?.error?.message,
    await text(),
    stand().runs,
    stand().fetches - fetches,
  ]).toEqual([
    4,
    'refused',
    'the deployment has changed since the plan was made: a new plan would differ in its steps',
    before,
    'running',
    0,
  ])
})
