import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readServer } from '../../src/lab/servers/index.ts'
import { processesOf } from '../../src/lab/servers/local/processes.ts'

const demo = fileURLToPath(new URL('../../bin/demo.js', import.meta.url))

test('a demo that is interrupted takes its lab down', async () => {
  const stateHome = await mkdtemp(join(tmpdir(), 'testops-admin-demo-'))
  const lab = join(stateHome, 'testops-admin/demo')
  try {
    const child = spawn(process.execPath, [demo], {
      env: { ...process.env, XDG_STATE_HOME: stateHome },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const redis: (string | undefined)[] = []
    let output = ''
    child.stdout.on('data', (bytes: Buffer) => {
      const before = output
      output += bytes.toString()
      if (before.includes('lab break') || !output.includes('lab break')) return
      // as Ctrl-C does, in the middle of breaking the lab
      void readServer(join(lab, 'servers/redis')).then((record) => {
        redis.push(record?.id)
        process.kill(-child.pid!, 'SIGINT')
      })
    })
    let errors = ''
    child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()))
    const exitCode = await new Promise((resolve) => child.once('close', resolve))
    expect(output, errors).toMatch(/Interrupted after \d+ s\.\n$/)
    expect(exitCode).toBe(6)
    expect(existsSync(lab)).toBe(false)
    expect(redis[0]).toBeDefined()
    expect(processesOf(redis[0]!, null)).toEqual([])
  } finally {
    await rm(stateHome, { recursive: true, force: true })
  }
}, 180_000)
