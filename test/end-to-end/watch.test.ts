import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apiToken, service } from '../adapters/service.ts'
import { Terminal } from '../cli/doctor/terminal.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace({ isApart: true })
})
afterEach(async () => place.remove())

const environment = { TOKEN: apiToken }

async function configured(url: string): Promise<void> {
  await place.write('testops-admin.yaml', `deployments:\n  prod:\n    url: ${url}\n    apiToken: {env: TOKEN}\n`)
}

/** Ends the program with Ctrl-C once it has said so many times. */
const endAfter = (times: number, says: string) => (child: ChildProcess) => {
  let said = 0
  child.stdout?.on('data', (text: string) => {
    const before = said
    said += String(text).split(says).length - 1
    if (before < times && said >= times) child.kill('SIGINT')
  })
}

describe('a watch', () => {
  test('asks for one token, and uses it in every round; ends with the exit code of the last report', async () => {
    const { url, received } = await service()
    await configured(url)
    const ended = await place.run(['doctor', '--watch', '--interval', '1', '--only', 'api/token', 'api/latency'], {
      environment,
      meanwhile: endAfter(4, 'Healthy: 2 ok.'),
    })
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    const exchanges = received.filter(({ path }) => path === '/api/uaa/oauth/token')
    const uses = received.filter(({ headers }) => headers.authorization !== undefined)
    expect(exchanges).toHaveLength(1)
    expect(uses.length).toBeGreaterThanOrEqual(4)
    expect(new Set(uses.map(({ headers }) => headers.authorization)).size).toBe(1)
    expect(ended.stdout).not.toContain(apiToken)
  })

  test('contradicts --json, but not a wish for JSON in the environment', async () => {
    const { url } = await service()
    await configured(url)
    const words = ['doctor', '--watch', '--interval', '1', '--only', 'api/reachable']
    const asking = {
      ...environment,
      TESTOPS_ADMIN_JSON: '1',
      TESTOPS_ADMIN_QUIET: '1',
      TESTOPS_ADMIN_DEPLOYMENT: 'prod',
    }
    const ended = await place.run(words, { environment: asking, meanwhile: endAfter(1, 'Healthy: 1 ok.') })
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await place.run([...words, '--json'], { environment })).toMatchObject({
      exitCode: 64,
      stdout: expect.stringContaining('--watch and --json cannot be combined') as string,
    })
  })

  test('looks where the settings of the service lead by then, whoever has changed them', async () => {
    const { url } = await service()
    const settings = (of: string): string => `VENDOR_ENDPOINT=${of}\n`
    const file = await place.write('testops.env', settings(url))
    await place.write(
      'testops-admin.yaml',
      `deployments:\n  prod:\n    platform: host\n    host: {environmentFile: ${file}, commands: {start: ` +
        `["true"], stop: ["true"], status: ["true"]}}\n`,
    )
    const ended = await place.run(['doctor', '--watch', '--interval', '1', '--only', 'api/reachable'], {
      meanwhile: (child) => {
        child.stdout?.once('data', () => void place.write('testops.env', settings('http://127.0.0.1:1')))
        endAfter(1, '127.0.0.1:1')(child)
      },
    })
    expect([ended.exitCode, ended.stdout]).toEqual([1, expect.stringMatching(/ok[^]*api\/reachable[^]*127\.0\.0\.1:1/)])
  })

  test('that is interrupted before its first report ends with 6', async () => {
    const asked = new EventEmitter()
    const { url } = await service({ instead: () => (asked.emit('asked'), true) })
    await configured(url)
    const ended = await place.run(['doctor', '--watch', '--timeout', '60', '--only', 'api'], {
      environment,
      meanwhile: (child) => asked.once('asked', () => child.kill('SIGINT')),
    })
    expect(ended).toMatchObject({ exitCode: 6, stdout: '' })
    expect(ended.stderr).toMatch(/^Error: .*interrupted/)
  })

  test('whose reader goes away ends by itself', async () => {
    const { url } = await service()
    await configured(url)
    const ended = await place.run(['doctor', '--watch', '--interval', '1', '--only', 'api/token'], {
      environment,
      meanwhile: (child) => child.stdout?.once('data', () => child.stdout?.destroy()),
    })
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ended.milliseconds).toBeLessThan(8000)
  })
})

test('on a terminal the list of results takes itself away, and leaves the report alone', async () => {
  const { url } = await service()
  await configured(url)
  // the program's own two streams, which only say of themselves that they are a terminal
  const preload = await place.write(
    'terminal.mjs',
    'for (const stream of [process.stdout, process.stderr]) Object.assign(stream, { isTTY: true, columns: 90, ' +
      'rows: 30, getWindowSize: () => [90, 30] })',
  )
  const { stdout, stderr, exitCode } = await place.run(
    ['doctor', '--only', 'api/reachable', 'api/token', 'api/latency'],
    {
      environment: { ...environment, NODE_OPTIONS: `--import=${preload}`, TERM: 'xterm' },
    },
  )
  expect(exitCode).toBe(0)
  const terminal = new Terminal(90, 30)
  terminal.stderr.write(stderr.slice(0, stderr.lastIndexOf('\r')))
  expect(terminal.screen.filter((line) => /^✔ ok {7}api\/(reachable|token|latency) /.test(line))).toHaveLength(3)
  terminal.stderr.write(stderr.slice(stderr.lastIndexOf('\r')))
  expect(terminal.screen).toEqual([])
  terminal.stdout.write(stdout)
  expect(terminal.screen.at(0)).toMatch(/^prod \(host\): \d checks in/)
  expect(terminal.screen.at(-1)).toMatch(/^Healthy: 3 ok\. Exit code 0\.$/)
})
