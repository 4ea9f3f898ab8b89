import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { claimPort, dropOldClaims, freePort } from '../../../src/lab/servers/local/ports.ts'

let folder: string
const claims = (): string => join(folder, `testops-admin-ports-${process.getuid?.() ?? 0}`)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'port-claims-'))
  vi.stubEnv('TMPDIR', folder)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

/** As a program leaves it that has ended. */
async function claimOfTheDead(port: number, of: string | null): Promise<void> {
  const { pid } = spawnSync('true')
  await mkdir(claims(), { recursive: true, mode: 0o700 })
  await writeFile(join(claims(), String(port)), JSON.stringify({ by: { pid, startTime: '1' }, folder: of }))
}

test('a port is given to one alone as long as the process lives that asked for it', async () => {
  expect([await claimPort(23_456, null), await claimPort(23_456, null), await claimPort(23_457, null)]).toEqual([
    true,
    false,
    true,
  ])
})

test('ports of a lab stay its own after the command has ended, and are free once its folder has gone', async () => {
  const lab = join(folder, 'lab')
  await mkdir(lab)
  await claimOfTheDead(23_456, lab)
  expect([await claimPort(23_456, null), await claimPort(23_456, null)]).toEqual([false, false])
  await rm(lab, { recursive: true })
  await claimPort(23_456, null)
  expect(await claimPort(23_456, null)).toBe(true)
})

test('what a killed program left half written is not taken for free, and what is no claim is not kept', async () => {
  await mkdir(claims(), { recursive: true })
  await writeFile(join(claims(), '23456'), '{"by":{"pi')
  await writeFile(join(claims(), '23457'), 'null')
  await dropOldClaims()
  expect(await readdir(claims())).toEqual(['23456'])
})

test('the folder goes with the last claim', async () => {
  await claimOfTheDead(23_456, null)
  await dropOldClaims()
  expect(await readdir(folder)).toEqual([])
})

test('a folder of claims that is a link is left alone, and ports are given all the same', async () => {
  const elsewhere = join(folder, 'elsewhere')
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, '23456'), 'null')
  await symlink(elsewhere, claims())
  await dropOldClaims()
  expect(await freePort()).toBeGreaterThan(0)
  expect(await readdir(elsewhere)).toEqual(['23456'])
})
