import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filesBeforeAgent } from '../../../src/results/rules/files-before-agent.ts'
import type { AgentTold } from '../../../src/results/rules/files-before-agent.ts'
import { agentLogs } from '../../../src/runtime/lint/index.ts'

let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'agent-logs-'))
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

const text = 'All files have been processed: indexed [17], processed [0], errors [17]\n'
/** by zstd 1.5.4, which need not be on this machine */
const zstd = Buffer.from(
  'KLUv/QRo9QEA4kMNEaAvBvjlZ+W1SYAbXnDUb5MHAJFxXKmk9A5IHAdExjH7PYvPhb3WL0mn4698m5zr4WuG0AQBAORtlgGg2bPz',
  'base64',
)
const written = (content: Buffer): string => {
  const file = join(place, 'agent.log')
  writeFileSync(file, content)
  return file
}
const told = async (file: string): Promise<AgentTold> => filesBeforeAgent((await agentLogs([file]))[0]!)

test.each<[what: string, content: Buffer]>([
  ['as it is', Buffer.from(text)],
  ['packed by gzip', gzipSync(text)],
  ['packed by zstd', zstd],
])('a log %s', async (_, content) => {
  const { found, unread } = await told(written(content))
  expect([found.map(({ place: at }) => at), unread]).toEqual([['line 1'], null])
})

test('an archive that is cut short is told, and what it holds is judged', async () => {
  const { found, unread } = await told(written(gzipSync(text).subarray(0, -4)))
  expect(found.length).toBe(1)
  expect(unread).toMatch(/^the gzip archive is incomplete: only the first /)
})

test('a pipe is read as a file is', async () => {
  const pipe = join(place, 'pipe')
  execFileSync('mkfifo', [pipe])
  const writer = execFile('sh', ['-c', 'cat "$1" > "$0"', pipe, written(gzipSync(text))])
  const { found } = await told(pipe)
  expect(found.length).toBe(1)
  expect(writer.exitCode ?? 0).toBe(0)
})

test('a pipe to which nobody writes can be interrupted', async () => {
  const pipe = join(place, 'pipe')
  execFileSync('mkfifo', [pipe])
  const [log] = await agentLogs([pipe])
  const stop = new AbortController()
  const judged = filesBeforeAgent(log!, stop.signal)
  setImmediate(() => stop.abort(new Error('enough')))
  await expect(judged).rejects.toThrow('enough')
})

test('it has to be there, a file, and of a kind that is known', async () => {
  const [log, bzip2] = [written(Buffer.from(text)), join(place, 'old log.bz2')]
  writeFileSync(bzip2, 'BZh91AY')
  const next = 'testops-admin lint-results DIR --agent-log FILE   # FILE is the output of the plugin or uploader'
  await expect(agentLogs([log, join(place, 'none.log')])).rejects.toMatchObject({
    code: 'USAGE',
    message: `there is no file ${place}/none.log`,
    suggestions: [next],
  })
  await expect(agentLogs([join(log, 'b')])).rejects.toMatchObject({ code: 'USAGE' })
  await expect(agentLogs([place])).rejects.toMatchObject({
    code: 'USAGE',
    message: `${place} is a folder, not the log of an agent`,
  })
  await expect(agentLogs([bzip2])).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: `${bzip2} is compressed with bzip2, which testops-admin cannot unpack`,
    suggestions: [`bzcat '${bzip2}' > agent.log`, 'testops-admin lint-results DIR --agent-log agent.log'],
  })
})
