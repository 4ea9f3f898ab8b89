import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import type { ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { tools } from '../../src/cli/mcp/tools.ts'
import { faultsOf } from '../output/schemas.ts'
import { processesWith } from '../support/processes.ts'
import { freshPlace, program } from './program.ts'
import type { Place } from './program.ts'

const timeoutMs = 120_000
const secret = 'n3ver-Shown-Anywhere'

let place: Place
let silent: SilentServer
beforeAll(async () => {
  place = await freshPlace()
  silent = await silentServer()
  await place.write(
    'testops-admin.yaml',
    `deployments:
  prod:
    platform: host
    url: http://127.0.0.1:${silent.port}
    apiToken: {env: TOKEN}
    host: {commands: {start: ["true"], stop: ["true"], status: ["true"]}}
    database: {url: "postgresql://testops@127.0.0.1:${silent.port}/testops", password: {env: TOKEN}}
  closed:
    platform: host
    url: http://127.0.0.1:1
  watched:
    platform: host
    url: http://127.0.0.1:1
    host:
      commands:
        start: [sh, -c, "echo start >>\$HOME/done"]
        stop: [sh, -c, "echo stop >>\$HOME/done"]
        status: [sh, -c, "echo \$TESTOPS_ADMIN_READ_ONLY >>\$HOME/read-only"]
  locked:
    platform: host
    database: {url: "postgresql://testops@127.0.0.1:1/testops", password: {file: /run/not-there/pass-file}}
`,
  )
})
afterAll(async () => {
  silent.close()
  await place.remove()
})

interface SilentServer {
  port: number
  open: Set<Socket>
  close(): void
}

/** Takes connections, and never says a word. */
async function silentServer(): Promise<SilentServer> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    open,
    close() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

const surroundings = (): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: place.directory,
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  TOKEN: secret,
})

interface Connected {
  client: Client
  pid: number
}

async function connected(...words: string[]): Promise<Connected> {
  return connectedAs({}, ...words)
}

async function connectedAs(options: ClientOptions, ...words: string[]): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' }, options)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', ...words],
    cwd: place.directory,
    env: surroundings(),
    stderr: 'ignore',
  })
  await client.connect(transport)
  onTestFinished(async () => client.close())
  return { client, pid: transport.pid! }
}

interface Answer {
  isError: boolean
  text: string
  structured: {
    command?: string
    exitCode?: number
    document?: Record<string, unknown>
    error?: { code: string; message: string }
  }
}

async function call({ client }: Connected, name: string, given: Record<string, unknown> = {}): Promise<Answer> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: given })
  const [first] = content
  if (content.length !== 1 || first?.type !== 'text') throw new Error(`not one text: ${JSON.stringify(content)}`)
  return { isError: isError === true, text: first.text, structured: structuredContent ?? {} }
}

/** The server as a program that is spoken to in plain text. */
function spoken(...words: string[]): { child: ChildProcess; out: () => string; ended: Promise<number | null> } {
  const child = spawn(process.execPath, [program, 'mcp', ...words], { cwd: place.directory, env: surroundings() })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr.resume()
  child.stdin.on('error', () => undefined)
  return { child, out: () => printed, ended: new Promise((resolve) => child.once('exit', resolve)) }
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})
const asked = (id: number, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`

test(
  'a client sees six tools, of which each only reads',
  async () => {
    const { client } = await connected()
    const { tools: listed } = await client.listTools()
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
    for (const { annotations } of listed)
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false })
    await expect(`${JSON.stringify(listed, null, 2)}\n`).toMatchFileSnapshot('golden/mcp-tools.json')
  },
  timeoutMs,
)

test(
  'a client of the newer protocol sees the same tools, and calls them',
  async () => {
    const server = await connectedAs({ versionNegotiation: { mode: 'auto' } })
    expect(server.client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    const { tools: listed } = await server.client.listTools()
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
    expect((await call(server, 'explain', { query: 'stuck-lock' })).text).toMatch(/^stuck-lock\n/)
  },
  timeoutMs,
)

describe('answers', () => {
  test(
    'of explain are the document of the command',
    async () => {
      const server = await connected()
      const { text, structured, isError } = await call(server, 'explain', {
        query: 'Could not acquire change log lock',
      })
      const printed = await place.run(['explain', 'Could not acquire change log lock', '--json'])
      expect([isError, structured.exitCode, structured.command]).toEqual([
        false,
        0,
        "testops-admin explain 'Could not acquire change log lock'",
      ])
      expect(structured.document).toEqual(JSON.parse(printed.stdout))
      expect(text).toMatch(/^stuck-lock\n/)
      const nothing = await call(server, 'explain', { query: 'zzzz qqqq' })
      expect([nothing.isError, nothing.structured.exitCode]).toEqual([false, 3])
    },
    timeoutMs,
  )

  test(
    'of doctor fit the schema of the command, and hold no secret and no place of one',
    async () => {
      const server = await connected('--timeout', '1')
      const [closed, locked] = await Promise.all([
        call(server, 'doctor', { deployment: 'closed', only: ['api'] }),
        call(server, 'doctor', { deployment: 'locked' }),
      ])
      expect(faultsOf('doctor', closed.structured.document)).toEqual([])
      expect([closed.isError, closed.structured.exitCode, closed.structured.command]).toEqual([
        false,
        1,
        'testops-admin doctor --only=api -d closed',
      ])
      expect(locked.text).toContain('the secret at')
      expect(JSON.stringify(locked)).not.toMatch(/not-there|pass-file/)
      expect(JSON.stringify([closed, locked])).not.toContain(secret)
    },
    timeoutMs,
  )

  test(
    'of errors have a code, a message and what to do next, but no stack',
    async () => {
      const server = await connected()
      const all = await Promise.all([
        call(server, 'doctor', { deployment: 'nowhere' }),
        call(server, 'doctor', { deployment: 'prod', only: ['brker'] }),
        call(server, 'preflight', { deployment: 'prod', to: '--help' }),
        call(server, 'plan', { repair: 'service-stop', deployment: 'prod', user: 'me' }),
        call(server, 'plan', { repair: 'set-env', deployment: 'prod', setting: [`MY_PASSWORD=${secret}`] }),
        call(server, 'scan_logs', { files: ['testops-admin.yaml'] }),
      ])
      expect(all.map(({ isError, structured }) => [isError, structured.error?.code])).toEqual([
        [true, 'USAGE'],
        [true, 'USAGE'],
        [true, 'USAGE'],
        [true, 'USAGE'],
        [true, 'USAGE'],
        [true, 'REFUSED'],
      ])
      for (const { text } of all) expect(text).not.toMatch(/^ {4}at /m)
      expect(JSON.stringify(all)).not.toContain(secret)
    },
    timeoutMs,
  )

  test(
    'of files are only those of a folder that was allowed',
    async () => {
      await place.write('app.log', '2026-11-28 02:00:00.000 ERROR 1 --- [main] x : Could not acquire change log lock\n')
      const server = await connected('--files', place.directory)
      const [inside, outside] = await Promise.all([
        call(server, 'scan_logs', { files: ['app.log'] }),
        call(server, 'scan_logs', { files: ['app.log', '../../etc/hostname'] }),
      ])
      expect(faultsOf('scan-logs', inside.structured.document)).toEqual([])
      expect(inside.structured.command).toBe(`testops-admin scan-logs ${join(place.directory, 'app.log')}`)
      expect(inside.text).toContain('lock-refused')
      expect(outside.structured.error?.code).toBe('REFUSED')
    },
    timeoutMs,
  )

  test(
    'of wrong calls are errors of the protocol, or of the tool',
    async () => {
      const server = await connected()
      await expect(server.client.callTool({ name: 'apply', arguments: {} })).rejects.toMatchObject({ code: -32602 })
      await expect(server.client.callTool({ name: 'unlock-changelog', arguments: {} })).rejects.toMatchObject({
        code: -32602,
      })
      for (const [name, given] of [
        ['doctor', { only: 'broker' }],
        ['doctor', { fix: true }],
        ['plan', {}],
        ['plan', { repair: 'undo' }],
        ['plan', { repair: 'service-stop', confirm: 'prod' }],
        ['explain', { query: 7 }],
      ] as const) {
        const { isError, text } = await call(server, name, given)
        expect([isError, text.startsWith('Input validation error')], name).toEqual([true, true])
      }
      expect((await call(server, 'explain', { query: 'broker' })).isError).toBe(false)
    },
    timeoutMs,
  )
})

test(
  'a plan starts and stops nothing, and is made by a program that may change nothing',
  async () => {
    const server = await connected('-d', 'watched')
    for (const repair of ['service-stop', 'service-start', 'service-restart']) {
      const { isError, text } = await call(server, 'plan', { repair })
      expect([isError, text], text).toEqual([false, expect.stringMatching(/^Plan: service .*\n(.*\n)*Hash: \w{64}\n/)])
    }
    expect(existsSync(join(place.directory, 'done'))).toBe(false)
    expect(new Set(readFileSync(join(place.directory, 'read-only'), 'utf8').trim().split('\n'))).toEqual(new Set(['1']))
  },
  timeoutMs,
)

describe('a call that waits for a silent deployment', () => {
  const isBusy = async (): Promise<void> => expect.poll(() => silent.open.size, { timeout: 40_000 }).toBeGreaterThan(0)
  const isFree = async (): Promise<void> => expect.poll(() => silent.open.size, { timeout: 40_000 }).toBe(0)
  const children = (): { parent: number; command: string }[] =>
    processesWith([place.directory]).filter(({ command }) => command.includes('--json'))
  const noneIsLeft = async (): Promise<void> => expect.poll(children, { timeout: 40_000 }).toEqual([])

  // what an earlier test left would be taken for this one's
  beforeEach(async () => {
    await isFree()
    await noneIsLeft()
  })

  test(
    'tells its progress, ends when it is cancelled, and closes its connections',
    async () => {
      const server = await connected('-d', 'prod', '--timeout', '100')
      const cancel = new AbortController()
      const told: (string | undefined)[] = []
      const calling = server.client.callTool(
        { name: 'doctor', arguments: {} },
        { signal: cancel.signal, onprogress: ({ message }) => told.push(message) },
      )
      calling.catch(() => undefined)
      await isBusy()
      cancel.abort('enough')
      await expect(calling).rejects.toThrow()
      await isFree()
      expect(told[0]).toBe('doctor has begun')
      expect((await call(server, 'explain', { query: 'broker' })).isError).toBe(false)
    },
    timeoutMs,
  )

  test(
    'ends at its deadline with an error that says so',
    async () => {
      const server = await connected('-d', 'prod', '--timeout', '100', '--deadline', '5')
      const { isError, structured } = await call(server, 'doctor')
      expect([isError, structured.error]).toEqual([
        true,
        {
          code: 'TIMED_OUT',
          message: 'doctor did not finish within 5 s',
          suggestions: [
            'testops-admin doctor -d prod   # on a terminal, without this limit',
            'testops-admin mcp --deadline 50   # starts a server that waits longer',
          ],
        },
      ])
      await isFree()
    },
    timeoutMs,
  )

  test(
    'is one of four at most; others wait, and too many are refused',
    async () => {
      const { child, out, ended } = spoken('-d', 'prod', '--timeout', '100')
      child.stdin!.write(`${initialize}\n`)
      for (let id = 1; id <= 40; id += 1) child.stdin!.write(asked(id, 'tools/call', { name: 'doctor', arguments: {} }))
      await expect.poll(() => out().match(/"code":"EXHAUSTED"/g)?.length, { timeout: 40_000 }).toBe(4)
      await isBusy()
      // a program that one of them starts has its command for a moment
      expect(children().filter(({ parent }) => parent === child.pid).length).toBeOneOf([1, 2, 3, 4])
      child.stdin!.end()
      expect(await ended).toBe(0)
      await isFree()
      await noneIsLeft()
    },
    timeoutMs,
  )

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with the server on %s',
    async (signal) => {
      const { child, ended } = spoken('-d', 'prod', '--timeout', '100')
      child.stdin!.write(`${initialize}\n${asked(1, 'tools/call', { name: 'doctor', arguments: {} })}`)
      await isBusy()
      child.kill(signal)
      expect(await ended).toBe(0)
      await isFree()
      await noneIsLeft()
    },
    timeoutMs,
  )
})

describe('rubbish', () => {
  test(
    'is answered, and the server goes on in bounded memory',
    async () => {
      const { child, out, ended } = spoken()
      const rubbish = [
        'not JSON',
        '[]',
        '{"id":9}',
        '\u0000\u0001',
        '{"jsonrpc":"2.0","method":"no/such/notification"}',
      ]
      child.stdin!.write(`${initialize}\n${rubbish.join('\n')}\n${asked(2, 'no/such/method')}`)
      child.stdin!.write(asked(3, 'tools/call', { name: 7 }))
      child.stdin!.write(asked(4, 'tools/call', { name: 'doctor', arguments: 'all' }))
      const block = 'x'.repeat(1 << 20)
      for (let megabyte = 0; megabyte < 50; megabyte += 1)
        if (!child.stdin!.write(block)) await new Promise((resolve) => child.stdin!.once('drain', resolve))
      child.stdin!.write(`\n${asked(5, 'ping')}`)
      await expect.poll(out, { timeout: 40_000 }).toContain('"id":5')
      const answers = out()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { id: unknown; error?: { code: number }; result?: unknown })
      const codeOf = (id: unknown): (number | undefined)[] =>
        answers.filter((it) => it.id === id).map(({ error }) => error?.code)
      expect(codeOf(null).sort()).toEqual([-32600, -32600, -32700, -32700])
      expect([codeOf(9), codeOf(2), codeOf(3), codeOf(4), codeOf(5), codeOf('first')]).toEqual([
        [-32600],
        [-32601],
        [-32602],
        [-32602],
        [undefined],
        [undefined],
      ])
      const [, peakKb] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))!
      expect(Number(peakKb)).toBeLessThan(300_000)
      child.stdin!.end()
      expect(await ended).toBe(0)
    },
    timeoutMs,
  )

  test(
    'of a client that writes and never reads ends with it',
    async () => {
      const child = spawn(process.execPath, [program, 'mcp'], { cwd: place.directory, env: surroundings() })
      onTestFinished(() => void child.kill('SIGKILL'))
      child.stderr.resume()
      child.stdin.on('error', () => undefined)
      child.stdin.write(`${initialize}\n`)
      const lines = asked(1, 'no/such/method').repeat(500)
      for (let full = 0; full < 3; )
        if (!child.stdin.write(lines)) {
          const isDrained = await Promise.race([
            new Promise<true>((resolve) => child.stdin.once('drain', () => resolve(true))),
            new Promise<false>((resolve) => setTimeout(resolve, 1500, false)),
          ])
          full = isDrained ? 0 : full + 1
        }
      child.kill('SIGTERM')
      expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)
    },
    timeoutMs,
  )

  test(
    'standard output holds the protocol alone, and an end of the input is the end',
    async () => {
      const { child, out, ended } = spoken()
      child.stdin!.end(`${initialize}\n`)
      expect(await ended).toBe(0)
      const lines = out().trim().split('\n')
      expect(lines.map((line) => (JSON.parse(line) as { id: unknown }).id)).toEqual(['first'])
    },
    timeoutMs,
  )
})
