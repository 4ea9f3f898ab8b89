import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'
import { doctorPrometheus, fleetPrometheus } from '../../src/output/doctor/formats.ts'
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

test('promtool reads a report of several deployments, one of which was not examined', async () => {
  const error = { code: 'CONFIGURATION' as const, message: 'unknown key', suggestions: [] }
  const text = fleetPrometheus([
    { result: { ...healthy, deployment: 'a' }, exitCode: 0 },
    { result: { deployment: 'b', error, exitCode: 64 }, exitCode: 64 },
    { result: { ...stuckLock, deployment: 'c' }, exitCode: 1 },
  ])
  expect(await checked(text)).toEqual({ exitCode: 0, said: '' })
  expect(text.match(/^testops_admin_doctor_exit_code.*$/gm)).toEqual([
    'testops_admin_doctor_exit_code{deployment="a"} 0',
    'testops_admin_doctor_exit_code{deployment="b"} 64',
    'testops_admin_doctor_exit_code{deployment="c"} 1',
  ])
}, 240_000)

test('promtool refuses what is no metric', async () => {
  expect((await checked('testops admin{')).exitCode).not.toBe(0)
}, 240_000)
