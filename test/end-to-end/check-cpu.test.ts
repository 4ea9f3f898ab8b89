import { afterAll, beforeAll, expect, test } from 'vitest'
import { v3Flags } from '../fakes/index.ts'
import { faultsOf } from '../output/schemas.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

let place: Place
beforeAll(async () => void (place = await freshPlace()))
afterAll(async () => place.remove())

test('this machine, where nothing is configured', async () => {
  const { stdout, exitCode } = await place.run(['check-cpu', '--json'])
  const document = JSON.parse(stdout) as { machines: { verdict: string }[] }
  expect(faultsOf('check-cpu', document)).toEqual([])
  expect(exitCode).toBe({ 'has-v3': 0, 'lacks-v3': 1 }[document.machines[0]!.verdict] ?? 3)
})

test('a file of a machine without x86-64-v3 ends with 1', async () => {
  await place.write('node-7', `flags : ${v3Flags.filter((it) => it !== 'bmi2').join(' ')} hypervisor\n`)
  const { stdout, stderr, exitCode } = await place.run(['check-cpu', '--file', 'node-7'])
  expect([exitCode, stderr]).toEqual([1, ''])
  expect(stdout).toMatch(/^✖ node-7: x86-64-v2, without bmi2; a virtual machine\n/)
})

test('a file that is none is one clear error, as a document too', async () => {
  await place.write('other', 'nothing\n')
  const { stdout, exitCode } = await place.run(['check-cpu', '--file', 'other', '--json'])
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([
    64,
    { error: { code: 'USAGE', message: 'other is not a cpuinfo file: it shows no processor' } },
  ])
})
