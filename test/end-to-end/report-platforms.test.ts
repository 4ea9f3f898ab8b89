import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { appendFile, readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import type { Workload } from '../kubernetes/resources.ts'
import { withoutNumbers } from '../../src/engine/recording/redacted.ts'
import type { MadeReport } from '../../src/output/report.ts'
import { readArchive } from '../../src/runtime/archive.ts'
import { composeProject } from './compose-world.ts'
import type { ComposeProject } from './compose-world.ts'
import { kubernetesPlace } from './kubernetes-place.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

const known = 'planted-Zq8-everywhere'
const settings = { PLANTED_PASSWORD: known, PLANTED_URL: `https://u:${known}@other.example.org/` }

/** Plain words, which nothing but their place shows to be secrets. */
const planted = { flag: 'sunflowers', below: 'marmalade', pair: 'windmill', note: 'lighthouse', line: 'two walnuts' }

async function examineSaved(made: Ended, place: Place): Promise<readonly string[]> {
  expect(made.exitCode, made.stderr).toBe(0)
  const { file, files } = JSON.parse(made.stdout) as MadeReport
  const path = join(place.directory, file)
  const all = gunzipSync(await readFile(path)).toString('latin1')
  expect([known, ...Object.values(planted)].filter((it) => all.includes(it))).toEqual([])
  expect(all).toContain('planted-beside')
  const { read } = await readArchive(path, (name) => (name === 'doctor.json' ? 10_000_000 : null))
  const live = withoutNumbers(JSON.parse(read.get('doctor.json')!.toString()) as DoctorReport)
  const saved = await place.run(['doctor', '--from', file, '--json'], { environment: { PATH: '/nowhere' } })
  const outcomes = ({ checks, rootCauses }: DoctorReport): unknown => ({
    rootCauses,
    checks: checks.map(({ id, status, severity, remedy }) => [id, status, severity, remedy]),
  })
  expect(outcomes(JSON.parse(saved.stdout) as DoctorReport)).toEqual(outcomes(live))
  return files.map(({ name }) => name)
}

describe('on Kubernetes', () => {
  const here = kubernetesPlace(settings)

  test('a report holds the workload and its pods, and doctor says the same from it without the cluster', async () => {
    const { cluster, isReady } = here.world
    cluster.update('deployments', cluster.get('deployments', 'testops', 'testops-testops'), (it) => {
      const { metadata, spec } = it as Workload
      metadata.annotations = {
        ...metadata.annotations,
        'example.com/token': planted.note,
        'example.com/x': 'planted-beside',
      }
      spec.template.spec.containers.push({
        name: 'cache',
        image: 'redis:7',
        command: ['redis-server'],
        args: ['--requirepass', planted.flag],
        env: [
          { name: 'REDIS_AUTH', value: planted.below },
          { name: 'DB_PASSWORD_OLD', value: planted.line },
          { name: 'LICENSE_KEY', value: planted.pair },
        ],
      })
    })
    await expect.poll(isReady, { timeout: 20_000 }).toBe(true)
    const made = await here.run('report', '--output', 'a.tar.gz', '--json')
    expect(await examineSaved(made, here.place)).toEqual(
      expect.arrayContaining([
        'definitions/deployments_testops-testops.json',
        expect.stringMatching(/^definitions\/pods_testops-testops-/),
        'settings.json',
      ]),
    )
  }, 120_000)
})

describe('on compose', () => {
  let project: ComposeProject
  let place: Place
  afterEach(async () => {
    await project.close()
    await place.remove()
  })

  test('a report holds the compose files, and doctor says the same from it without an engine', async () => {
    place = await freshPlace()
    project = await composeProject(settings)
    const environment = { PATH: join(project.world.folder, 'bin') }
    await appendFile(
      join(project.world.folder, 'project', 'docker-compose.yml'),
      `x-note: planted-beside   # it was ${planted.note}\nx-old: &old ${planted.line}\n` +
        `x-cache: {command: [redis-server, --requirepass, ${planted.flag}], env: {DB_PASSWORD_OLD: *old}}\n` +
        `x-more: {password: {value: ${planted.below}}, headers: [{key: X-Api-Token, value: ${planted.pair}}]}\n`,
    )
    expect((await place.run(['service', 'start', '--confirm', 'testops'], { environment })).exitCode).toBe(0)
    const made = await place.run(['report', '--output', 'a.tar.gz', '--json'], { environment })
    expect(await examineSaved(made, place)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^definitions\/.*compose\.yml\.json$/),
        'settings.json',
        'log.txt',
      ]),
    )
  }, 120_000)
})
