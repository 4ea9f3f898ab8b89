import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
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

async function examineSaved(made: Ended, place: Place): Promise<readonly string[]> {
  expect(made.exitCode, made.stderr).toBe(0)
  const { file, files } = JSON.parse(made.stdout) as MadeReport
  const path = join(place.directory, file)
  expect(gunzipSync(await readFile(path)).includes(known)).toBe(false)
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
    place = await freshPlace({ shared: true })
    project = await composeProject(settings)
    const environment = { PATH: join(project.world.folder, 'bin') }
    expect((await place.run(['service', 'start', '--confirm', 'testops'], { environment })).exitCode).toBe(0)
    const made = await place.run(['report', '--output', 'a.tar.gz', '--json'], { environment })
    expect(await examineSaved(made, place)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^definitions\/.*compose\.ya?ml$/), 'settings.json', 'log.txt']),
    )
  }, 120_000)
})
