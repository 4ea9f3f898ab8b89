import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { onTerminal } from '../support/terminal.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

const values = 'version: 527u01\nimage:\n  imageName: testops\n'
const result = {
  uuid: '6c7f9a3e-0d0a-4d4b-8f3e-5f5d2a1b0c01',
  historyId: 'h',
  name: 'n',
  fullName: 'a.b',
  status: 'passed',
  start: 1,
  stop: 2,
}
const edit = ['use-legacy-image', '--values', 'values.yaml', '--confirm', 'values.yaml']

let place: Place
beforeEach(async () => {
  place = await freshPlace({ isApart: true })
  await mkdir(join(place.directory, 'results'))
  await place.write(`results/${result.uuid}-result.json`, JSON.stringify(result))
  await place.write('values.yaml', values)
})
afterEach(async () => place.remove())

async function run(
  words: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await place.run(words, {
    environment: { XDG_STATE_HOME: join(place.directory, 'state'), ...environment },
  })
  return { exitCode, stdout, stderr }
}

describe('--quiet', () => {
  test('prints nothing after success, and everything after a problem', async () => {
    expect((await run(['lint-results', 'results'])).stdout).not.toBe('')
    const silent = { exitCode: 0, stdout: '', stderr: '' }
    expect(await run(['lint-results', 'results', '--quiet'])).toEqual(silent)
    expect(await run(['lint-results', 'results'], { TESTOPS_ADMIN_QUIET: '1' })).toEqual(silent)
    await place.write('results/7c7f9a3e-0d0a-4d4b-8f3e-5f5d2a1b0c02-result.json', '{')
    const told = await run(['lint-results', 'results'])
    expect(told.exitCode).toBe(1)
    expect(await run(['lint-results', 'results', '--quiet'])).toEqual(told)
  })

  test('tells a whole repair if it is refused, nothing if it is done', async () => {
    const refused = await run([...edit.slice(0, -1), 'other', '--quiet'])
    expect(refused).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: expect.stringContaining('--confirm names') as string,
    })
    expect(await run([...edit, '--quiet'])).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect(await run(['use-legacy-image', '--values', 'values.yaml', '--dry-run', '--quiet'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('values.yaml') as string,
    })
  })

  test('prints a document all the same', async () => {
    const { stdout } = await run(['lint-results', 'results', '--quiet', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ summary: { error: 0, warning: 0 } })
    const { stdout: junit } = await run(['lint-results', 'results', '--quiet', '--format', 'junit'])
    expect(junit).toContain('<testsuites')
    expect((await run(['lint-results', 'results', '--quiet', '--format=table'])).stdout).toBe('')
  })

  test('says what is wrong with its own words, and is unknown where an output is all there is', async () => {
    expect(await run(['lint-results', 'results', '--quiet', '--nonsense'])).toMatchObject({
      exitCode: 64,
      stderr: expect.stringContaining('--nonsense') as string,
    })
    expect(await run(['explain', 'stuck-lock', '--quiet'])).toMatchObject({
      exitCode: 64,
      stderr: expect.stringContaining('--quiet') as string,
    })
    expect((await run(['explain', 'stuck-lock'], { TESTOPS_ADMIN_QUIET: '1' })).stdout).toContain('stuck-lock')
  })

  test('shows what is confirmed before it asks', async () => {
    const { exitCode, text } = await onTerminal('testops-admin use-legacy-image --values values.yaml --quiet', {
      cwd: place.directory,
      env: { XDG_STATE_HOME: join(place.directory, 'state') },
      answers: [[/to confirm: /, 'values.yaml\r']],
    })
    expect([exitCode, text]).toEqual([0, expect.stringMatching(/imageName[^]*to confirm: /) as string])
  })
})
