import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'
import { doctorPrometheus } from '../../src/output/doctor/formats.ts'
import { databaseDown, healthy, hostile, stuckLock } from '../output/reports.ts'
import { debianProgram } from '../support/debian-program.ts'

const promtool = debianProgram({
  name: 'promtool',
  packageName: 'prometheus',
  path: 'usr/bin/promtool',
  megabytes: 40,
})

async function checked(text: string): Promise<{ exitCode: number; said: string }> {
  const program = await promtool
  return new Promise((resolve) => {
    const child = execFile(program, ['check', 'metrics'], (error, stdout, stderr) =>
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr }),
    )
    child.stdin!.end(text)
  })
}

test.each([
  ['a healthy deployment', healthy],
  ['a stuck lock', stuckLock],
  ['a database that is down', databaseDown],
  ['names from outside', { ...hostile, deployment: 'a "b"\\ \n c' }],
])(
  'promtool reads the report, and has nothing to say of it: %s',
  async (_, report) => {
    expect(await checked(doctorPrometheus(report, { exitCode: 1, areWarningsFailures: true }))).toEqual({
      exitCode: 0,
      said: '',
    })
  },
  240_000,
)

test('promtool refuses what is no metric', async () => {
  expect((await checked('testops admin{')).exitCode).not.toBe(0)
}, 240_000)
