import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { BrokerEndpoint } from '../../../src/core/endpoint.ts'
import { moverFailpoints } from '../../../src/core/message-mover.ts'
import type { Moved } from '../../../src/core/message-mover.ts'
import { isCampaign } from '../../support/campaign.ts'
import { freshVhost } from '../../servers/index.ts'
import { bodies, drainRaw, makeQueue, numbered, publishRaw, readyIn } from './raw.ts'

let folder: string
let program: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-mover-'))
  program = join(folder, 'mover.cjs')
  const entry = fileURLToPath(new URL('mover-process.ts', import.meta.url))
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  })
})
afterAll(async () => rm(folder, { recursive: true, force: true }))

interface Ended {
  signal: string | null
  moved: Moved | null
  said: string
}

async function move(
  endpoint: BrokerEndpoint,
  of: { how: 'aside' | 'back'; from: string; to: string },
  failpoint = '',
): Promise<Ended> {
  const { password, ...rest } = endpoint
  const child = spawn(process.execPath, [program], {
    env: {
      ...process.env,
      MOVE: JSON.stringify(of),
      ENDPOINT: JSON.stringify(rest),
      PASSWORD: password?.reveal() ?? '',
      TESTOPS_ADMIN_FAILPOINT: failpoint,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { signal, moved: stdout === '' ? null : (JSON.parse(stdout) as Moved), said }
}

/** in the campaign more than can be under way at once, so that there are several batches of each kind */
const total = isCampaign ? 9000 : 3000
/** later ones too in the campaign (`npm run campaign`) */
const kills = [...moverFailpoints, 'published#2', ...(isCampaign ? ['published#5', 'confirmed#2', 'acked#2'] : [])]

describe.each(['3', '4.3'] as const)('RabbitMQ %s, killed at', (line) => {
  test.each(kills)('%s, on the way there and on the way back', async (failpoint) => {
    const vhost = await freshVhost(line)
    onTestFinished(async () => vhost.cleanup())
    await makeQueue(vhost, 'q')
    const all = numbered('q', total)
    await publishRaw(vhost.endpoint, all)
    let copies = 0
    for (const of of [
      { how: 'aside', from: 'q', to: 'held' },
      { how: 'back', from: 'held', to: 'q' },
    ] as const) {
      const expected = total + copies
      const killed = await move(vhost.endpoint, of, failpoint)
      expect(killed).toEqual({ signal: 'SIGKILL', moved: null, said: '' })
      // the broker notices a moment later that its client is gone
      await expect
        .poll(
          async () => (await readyIn(vhost.endpoint, of.from)) + (await readyIn(vhost.endpoint, of.to).catch(() => 0)),
        )
        .toBeGreaterThanOrEqual(expected)
      const again = await move(vhost.endpoint, of)
      expect({ ...again, moved: null }).toEqual({ signal: null, moved: null, said: '' })
      expect(await readyIn(vhost.endpoint, of.from)).toBe(0)
      const twice = (await readyIn(vhost.endpoint, of.to)) - expected
      expect(twice).toBeGreaterThanOrEqual(0)
      expect(twice).toBeLessThanOrEqual(again.moved?.perhapsTwice ?? 0)
      copies += twice
    }
    const left = bodies(await drainRaw(vhost.endpoint, 'q'))
    expect(left.length).toBe(total + copies)
    expect([...new Set(left)]).toEqual(bodies(all))
    const exchanges = (await vhost.manage('GET', `/api/exchanges/${vhost.vhost}`)) as { name: string }[]
    expect(exchanges.filter(({ name }) => name.startsWith('testops-admin'))).toEqual([])
  })
})
