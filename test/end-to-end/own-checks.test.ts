import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CheckReport, DoctorReport } from '../../src/core/check.ts'
import type { FleetDocument } from '../../src/output/doctor/fleet.ts'
import type { ChecksDocument } from '../../src/output/explain.ts'
import { faultsOf } from '../output/schemas.ts'
import { freshDatabase } from '../servers/index.ts'
import { processesWith } from '../support/processes.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace({ isApart: true })
  mkdirSync(join(place.directory, 'checks'))
})
afterEach(async () => {
  const { directory } = place
  await place.remove()
  await expect.poll(() => processesWith([directory]), { timeout: 5000 }).toEqual([])
})

const head = "version: 1, title: 'few rows wait', remedy: {text: 'Do it.', commands: ['echo {deployment}']}"
/** A check file whose `run` has this body. */
const running = (body: string): string => `export default {${head}, async run(sources, deployment) {${body}}}\n`
const fine = "return {status: 'ok', detail: 'fine'}"

async function configured(
  files: Readonly<Record<string, string>>,
  more = 'broker: {url: "amqp://a@127.0.0.1:1"}',
): Promise<void> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place.directory, 'checks', name), text)
  const names = Object.keys(files).map((name) => `checks/${name}`)
  await configure(names, more)
}

async function configure(names: readonly string[], more = 'broker: {url: "amqp://a@127.0.0.1:1"}'): Promise<void> {
  await place.write(
    'testops-admin.yaml',
    `deployments:\n  prod:\n    platform: host\n` +
      `    host: {commands: {start: ["true"], stop: ["true"], status: ["true"]}}\n    ${more}\n` +
      `    checks: ${JSON.stringify(names)}\n`,
  )
}

const examine = async (...words: string[]): Promise<Ended> => place.run(['doctor', '--json', '--only', 'own', ...words])

function reportIn({ stdout, stderr }: Ended): DoctorReport {
  expect(stderr).toBe('')
  const report = JSON.parse(stdout) as DoctorReport
  expect(faultsOf('doctor', report)).toEqual([])
  return report
}

/** Returns the result of the only check. */
async function only(
  text: string,
  { name = 'waiting.mjs', words = [] as string[], more = undefined as string | undefined } = {},
) {
  await configured({ [name]: text }, more)
  const ended = await examine(...words)
  const [check] = reportIn(ended).checks
  return { ...check!, exitCode: ended.exitCode }
}

describe('what a check returns is its result', () => {
  test('ok', async () => {
    expect(await only(running(fine))).toMatchObject({
      id: 'own/waiting',
      title: 'few rows wait',
      status: 'ok',
      detail: 'fine',
      exitCode: 0,
      docs: `less ${place.directory}/checks/waiting.mjs`,
    })
  })

  test.each([
    ['error', 1],
    ['warning', 2],
  ])('a problem of severity %s', async (severity, exitCode) => {
    const findings = [{ message: '12 rows wait', evidence: ['SELECT count(*) FROM outbox', '12'] }]
    const text = running(`console.log('noise'); return ${JSON.stringify({ status: 'problem', severity, findings })}`)
    expect(await only(text)).toMatchObject({
      status: 'problem',
      severity,
      findings,
      remedy: { text: 'Do it.', commands: ['echo prod'] },
      exitCode,
    })
  })

  test('skipped, by a .js file that imports what the package exports', async () => {
    const text =
      "import { defineCheck } from 'testops-admin/check'\nimport { hostname } from 'node:os'\n" +
      `export default defineCheck({${head}, run: () => ({status: 'skipped', reason: typeof hostname()})})\n`
    expect(await only(text, { name: 'waiting.js' })).toMatchObject({
      status: 'skipped',
      reason: 'string',
      exitCode: 0,
    })
  })

  test('the platform’s view of the service, and nothing that was not asked for', async () => {
    const body =
      "const {state} = await sources.service.status(); return {status: 'ok', detail: [state, deployment.name, " +
      "...Object.keys(sources), ...Object.keys(sources.service)].join(' ')}"
    const text = running(body).replace(head, `${head}, reads: ['service']`)
    expect((await only(text)).detail).toBe('running prod service status image')
  })
})

describe('what is wrong with a file concerns its check alone', () => {
  test('each has one clear reason, and the others go on', async () => {
    const rows: Readonly<Record<string, [text: string, code: string, message: string | RegExp]>> = {
      'syntax.mjs': [
        'export default {\n  version: 1\n  title: 2\n}\n',
        'CONFIGURATION',
        "check file FOLDER/syntax.mjs has a syntax error in line 3: Unexpected identifier 'title'",
      ],
      'empty.mjs': ['', 'CONFIGURATION', 'check file FOLDER/empty.mjs has no default export'],
      'function.mjs': [
        'export default () => 1',
        'CONFIGURATION',
        'check file FOLDER/function.mjs exports a function, not a check',
      ],
      'no-version.mjs': [
        'export default {}',
        'CONFIGURATION',
        'check file FOLDER/no-version.mjs does not say for which version it is written: add `version: 1`',
      ],
      'version.mjs': [
        running(fine).replace('version: 1', 'version: 2'),
        'CONFIGURATION',
        'check file FOLDER/version.mjs is written for version 2 of checks, but this testops-admin has version 1',
      ],
      'explains.mjs': [
        running(fine).replace(head, `${head}, explains: ['database/reachable']`),
        'CONFIGURATION',
        'check file FOLDER/explains.mjs declares no check: check has an unknown key: explains',
      ],
      'reads.mjs': [
        running(fine).replace(head, `${head}, reads: ['runs']`),
        'CONFIGURATION',
        /^check file FOLDER\/reads.mjs declares no check: check.reads\[0\] is "runs"; allowed: "database", /,
      ],
      'imports.mjs': [
        `import './empty.mjs'\n${running(fine)}`,
        'CONFIGURATION',
        'check file FOLDER/imports.mjs cannot be loaded: it imports `./empty.mjs`, but a check file may import only ' +
          'modules of Node, such as `node:fs`',
      ],
      'late-import.mjs': [
        running("await import('/etc/passwd')"),
        'FAILED',
        /^check `own\/late-import` failed: it imports `\/etc\/passwd`, but /,
      ],
      'top.mjs': [
        `\nthrow new Error('at once')`,
        'CONFIGURATION',
        'check file FOLDER/top.mjs cannot be loaded: at once (top.mjs:2)',
      ],
      'throws.mjs': [
        running('\nnull.x'),
        'FAILED',
        "check `own/throws` failed: TypeError: Cannot read properties of null (reading 'x') (throws.mjs:2)",
      ],
      'throws-text.mjs': [running("throw 'text'"), 'FAILED', "check `own/throws-text` failed: it threw 'text'"],
      'timer.mjs': [
        running("setTimeout(() => { throw new Error('later') }); await new Promise(() => {})"),
        'FAILED',
        'check `own/timer` failed: later (timer.mjs:1)',
      ],
      'rejects.mjs': [
        running("Promise.reject(new Error('unheard')); await new Promise(() => {})"),
        'FAILED',
        'check `own/rejects` failed: unheard (rejects.mjs:1)',
      ],
      'exits.mjs': [
        running("console.error('bye'); process.exit(7)"),
        'FAILED',
        'check `own/exits` ended before it returned: it exited with 7: bye',
      ],
      'moves.mjs': [
        running("process.chdir('/')"),
        'FAILED',
        'check `own/moves` failed: TypeError: process.chdir() is not supported in workers (moves.mjs:1)',
      ],
      'killed.mjs': [
        running("process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})"),
        'FAILED',
        'check `own/killed` ended before it returned: it was ended by SIGKILL',
      ],
      'nothing.mjs': [
        running(''),
        'UNEXPECTED_ANSWER',
        'check `own/nothing` returned nonsense: it is not an object with a status',
      ],
      'status.mjs': [
        running("return {status: 'unknown'}"),
        'UNEXPECTED_ANSWER',
        'check `own/status` returned nonsense: outcome.status is "unknown"; allowed: "ok", "skipped", "problem"',
      ],
      'cycle.mjs': [running('const a = {}; a.a = a; return a'), 'FAILED', /^check `own\/cycle` failed: TypeError: /],
      'channel.mjs': [
        running("(await import('node:fs')).writeSync(3, 'x\\n'); await new Promise(() => {})"),
        'FAILED',
        'check `own/channel` wrote to a channel that is not its own',
      ],
      'long.mjs': [
        running("return {status: 'ok', detail: 'x'.repeat(2e6)}"),
        'FAILED',
        'check `own/long` sent more than 1000000 bytes',
      ],
      'prints.mjs': [
        running("for (;;) await new Promise((written) => process.stdout.write('x'.repeat(1e5), written))"),
        'FAILED',
        'check `own/prints` printed more than 10000000 bytes',
      ],
      'questions.mjs': [
        running('for (;;) await sources.service.status()').replace(head, `${head}, reads: ['service']`),
        'FAILED',
        'check `own/questions` asked more than 1000 questions',
      ],
      // what is not offered is refused, also if a check speaks to the program by itself
      'asks.mjs': [
        running(
          "(await import('node:fs')).writeSync(3, JSON.stringify({ask: {id: 1, source: 'service', part: 0, method: " +
            "'environment', input: []}}) + '\\n'); await sources.service.status()",
        ).replace(head, `${head}, reads: ['service']`),
        'REFUSED',
        'check `own/asks` failed: a check may not ask this (asks.mjs:1)',
      ],
      // the line where it asked, not the one that waits
      'asks-wrongly.mjs': [
        running("const {status} = sources.service\nconst asking = status('now')\nawait asking").replace(
          head,
          `${head}, reads: ['service']`,
        ),
        'USAGE',
        'check `own/asks-wrongly` failed: service.status: it takes nothing (asks-wrongly.mjs:2)',
      ],
      'not-text.mjs': ['\u00ff', 'CONFIGURATION', 'cannot read check file FOLDER/not-text.mjs: it is not UTF-8 text'],
      'large.mjs': [
        `//${'x'.repeat(200_000)}`,
        'CONFIGURATION',
        'check file FOLDER/large.mjs is too large: it may have at most 200000 bytes',
      ],
      'fine.mjs': [running(fine), '', ''],
    }
    await configured(Object.fromEntries(Object.entries(rows).map(([name, [text]]) => [name, text])))
    const folder = join(place.directory, 'checks')
    writeFileSync(join(folder, 'not-text.mjs'), Buffer.from([0xff, 0xfe]))
    const ended = await examine('--timeout', '30')
    const report = reportIn(ended)
    expect(ended.exitCode).toBe(3)
    for (const [name, [, code, message]] of Object.entries(rows)) {
      const check = report.checks.find(({ id }) => id === `own/${name.replace('.mjs', '')}`)
      if (name === 'fine.mjs') expect(check).toMatchObject({ status: 'ok' })
      else {
        const said = check?.error?.message.replaceAll(folder, 'FOLDER')
        expect({ name, status: check?.status, code: check?.error?.code, said }).toEqual({
          name,
          status: 'unknown',
          code,
          said: message instanceof RegExp ? (expect.stringMatching(message) as string) : message,
        })
      }
    }
  }, 120_000)

  test('a missing file, a folder, a pipe, a loop of links', async () => {
    const folder = join(place.directory, 'checks')
    mkdirSync(join(folder, 'folder.mjs'))
    expect(spawnSync('mkfifo', [join(folder, 'pipe.mjs')]).status).toBe(0)
    symlinkSync('loop.mjs', join(folder, 'loop.mjs'))
    await configure(['missing', 'folder', 'pipe', 'loop'].map((name) => `checks/${name}.mjs`))
    const { checks } = reportIn(await examine())
    expect(checks.map(({ error }) => error?.message.replaceAll(folder, 'FOLDER'))).toEqual([
      'cannot read check file FOLDER/missing.mjs: the file is missing',
      'cannot read check file FOLDER/folder.mjs: it is a directory',
      'cannot read check file FOLDER/pipe.mjs: it is a pipe, not a file',
      'cannot read check file FOLDER/loop.mjs: its symbolic links form a loop',
    ])
  })

  test('a file that others may write is not run', async () => {
    const trap = join(place.directory, 'executed')
    await configured({ 'waiting.mjs': `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(trap)}, '')` })
    const file = join(place.directory, 'checks/waiting.mjs')
    chmodSync(file, 0o666)
    const [check] = reportIn(await examine()).checks
    expect(check).toMatchObject({
      status: 'unknown',
      error: {
        code: 'CONFIGURATION',
        message: `check file ${file} is not trusted: every user can write to it (mode 0666)`,
        suggestions: [`chmod go-w ${file}`, expect.stringContaining(`TESTOPS_ADMIN_TRUST=${file}`) as string],
      },
    })
    await place.run(['checks'])
    expect(existsSync(trap)).toBe(false)
    const named = await place.run(['doctor', '--only', 'own'], { environment: { TESTOPS_ADMIN_TRUST: file } })
    expect([named.exitCode, existsSync(trap)]).toEqual([3, true])
  })
})

describe('a check that does not end is ended, with all that it has started', () => {
  test.each([
    ['it waits for ever', running('await new Promise(() => {})'), 'check `own/waiting` did not finish within 2 s'],
    ['it loops', running('for (;;);'), 'check `own/waiting` did not finish within 2 s'],
    ['it loops as it is loaded', 'for (;;);', /^check file .* did not load within 2 s$/],
  ])('%s', async (_, text, message) => {
    const { status, error } = await only(text, { words: ['--timeout', '1'] })
    expect(status).toBe('unknown')
    expect(error).toMatchObject({ code: 'TIMED_OUT', message: expect.stringMatching(message) as string })
  })

  test('timers and children that it leaves behind do not keep it', async () => {
    const text =
      "import { spawn } from 'node:child_process'\n" +
      running(`setInterval(() => {}, 1000); spawn('sleep', ['600'], {stdio: 'inherit'}); ${fine}`)
    expect(await only(text)).toMatchObject({ status: 'ok', exitCode: 0 })
  })

  test.each([
    ['objects', 'const all = []; for (;;) all.push(new Array(1000).fill(all.length))', '128 MB'],
    ['bytes outside of its heap', 'const all = []; for (;;) all.push(Buffer.alloc(1e6, 1))', '512 MB'],
  ])('it takes memory without end: %s', async (_, body, most) => {
    const { error } = await only(running(body), { words: ['--timeout', '60'] })
    expect(error?.message).toBe(`check \`own/waiting\` used more than ${most} of memory`)
  })

  test('as the program is killed', async () => {
    const mark = join(place.directory, 'runs')
    await configured({
      'waiting.mjs': running(`(await import('node:fs')).writeFileSync(${JSON.stringify(mark)}, ''); for (;;);`),
    })
    await place.run(['doctor', '--only', 'own', '--timeout', '2'], {
      meanwhile: async (child) => {
        for (let tries = 0; tries < 100 && !existsSync(mark); tries += 1) await sleep(50)
        child.kill('SIGKILL')
      },
    })
    expect(existsSync(mark)).toBe(true)
    await expect.poll(() => processesWith([place.directory]), { timeout: 15_000 }).toEqual([])
  })
})

describe('few run at a time, and each has its whole time', () => {
  /** A check file whose process counts, as it begins, how many of the same kind are alive. */
  const counting = (body: string): string =>
    `import fs from 'node:fs'
const folder = ${JSON.stringify(join(place.directory, 'live'))}
fs.mkdirSync(folder, {recursive: true})
fs.writeFileSync(folder + '/' + process.pid, '')
const isAlive = (pid) => {
  try { return !/^\\d+ \\(.*\\) Z/s.test(fs.readFileSync('/proc/' + pid + '/stat', 'latin1')) } catch { return false }
}
fs.appendFileSync(folder + '.log', fs.readdirSync(folder).filter(isAlive).length + '\\n')
${running(body)}`
  const counts = (): number[] => readFileSync(join(place.directory, 'live.log'), 'utf8').trim().split('\n').map(Number)
  const files = (count: number, text: string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}.mjs`, text]))

  test('8 at most, also of 30', async () => {
    await configured(files(30, counting(`await new Promise((done) => setTimeout(done, 300)); ${fine}`)))
    const ended = await examine('--timeout', '60')
    expect(reportIn(ended).summary).toMatchObject({ ok: 30, unknown: 0 })
    expect(counts().length).toBe(60)
    expect(Math.max(...counts())).toBeLessThanOrEqual(8)
  }, 120_000)

  test('the time of a check does not count while it waits', async () => {
    // 6 seconds for each, of which the ninth has to wait for more than 3
    await configured(files(9, counting(`await new Promise((done) => setTimeout(done, 3200)); ${fine}`)))
    const ended = await examine('--timeout', '5')
    expect(reportIn(ended).summary).toMatchObject({ ok: 9, unknown: 0 })
    expect(Math.max(...counts())).toBe(8)
  }, 120_000)

  test('none is late if none hangs, however long all of them take together', async () => {
    // 6 seconds for each, and so 18 for a turn, of which all together take more
    await configured(files(48, running(`await new Promise((done) => setTimeout(done, 3050)); ${fine}`)))
    const begin = performance.now()
    const ended = await examine('--timeout', '5')
    expect(performance.now() - begin).toBeGreaterThan(18_000)
    expect(reportIn(ended).summary).toMatchObject({ ok: 48, unknown: 0 })
  }, 120_000)

  test('where all hang, the run ends all the same', async () => {
    await configured(files(45, running('await new Promise(() => {})')))
    const ended = await examine('--timeout', '3')
    const { checks } = reportIn(ended)
    const said = (step: string): CheckReport[] => checks.filter(({ error }) => error?.message.includes(step))
    const [hanging, waiting] = [said('did not finish within 4 s'), said('did not start')]
    expect(hanging.length + waiting.length).toBe(45)
    for (const { id, error } of [hanging[0]!, waiting[0]!])
      expect(error!.suggestions[0]).toBe(`testops-admin doctor -d prod --only ${id} --timeout 6`)
    expect(waiting[0]!.error!.message).toMatch(/ did not start: for 12 s, no own check ended in time$/)
    expect(checks.every(({ error }) => error?.code === 'TIMED_OUT')).toBe(true)
  }, 120_000)

  test('16 at most of all deployments; one whose checks hang makes no other late', async () => {
    await configured(files(8, counting('await new Promise(() => {})')))
    for (const index of [8, 9, 10, 11])
      writeFileSync(
        join(place.directory, `checks/c${index}.mjs`),
        counting(`await new Promise((done) => setTimeout(done, 200)); ${fine}`),
      )
    const named = (from: number, to: number): string => {
      const paths = Array.from({ length: to - from }, (_, at) => `checks/c${from + at}.mjs`)
      return `{url: "http://127.0.0.1:1", checks: [${paths.join(', ')}]}`
    }
    await place.write(
      'testops-admin.yaml',
      `${readFileSync(join(place.directory, 'testops-admin.yaml'), 'utf8')}  hanging: ${named(0, 8)}\n` +
        `  fine: ${named(8, 12)}\n`,
    )
    const ended = await place.run(['doctor', '--all', '--only', 'own', '--json', '--timeout', '4'])
    expect([ended.exitCode, ended.stderr]).toEqual([3, ''])
    const { deployments } = JSON.parse(ended.stdout) as FleetDocument
    const [prod, hanging, ok] = deployments as DoctorReport[]
    for (const one of [prod!, hanging!]) {
      const said = one.checks.map(({ id, error }) => [id, error?.message])
      expect(said).toEqual(said.map(([id]) => [id, `check \`${id}\` did not finish within 5 s`]))
    }
    expect(ok!.summary).toMatchObject({ ok: 4, unknown: 0 })
    expect(Math.max(...counts())).toBeLessThanOrEqual(16)
  }, 120_000)
})

describe('nothing of a check is trusted', () => {
  test('texts that act on a terminal are refused, secrets are removed, and none of its words repairs', async () => {
    const problem = (more: string): string =>
      running(`return {status: 'problem', severity: 'error', findings: [{message: 'bad', evidence: []}], ${more}}`)
    await configured({
      'escapes.mjs': running("return {status: 'ok', detail: '\\x1b[2J'}"),
      'secret.mjs': running("return {status: 'ok', detail: 'password=hunter2horse'}"),
      'repair.mjs': problem("remedy: {text: 'x', commands: ['testops-admin service restart -d prod']}"),
      'underway.mjs': running("return {status: 'ok', detail: 'x', underway: 'all is well'}"),
      'follows.mjs': problem("follows: 'api/token'"),
    })
    const ended = await examine()
    const { checks } = reportIn(ended)
    const of = (name: string): CheckReport => checks.find(({ id }) => id === `own/${name}`)!
    expect(of('escapes').error?.message).toMatch(/outcome.detail has a control character or a line end$/)
    expect(of('secret').detail).not.toContain('hunter2horse')
    expect(of('underway').error?.message).toMatch(/outcome has an unknown key: underway$/)
    expect(of('follows').error?.message).toMatch(/outcome has an unknown key: follows$/)
    const fixed = await place.run([
      'doctor',
      '--only',
      'own/repair',
      '--fix',
      '--confirm',
      'prod',
      '--repairs',
      'service-restart',
      '--json',
    ])
    expect((JSON.parse(fixed.stdout) as { repairs: unknown[] }).repairs).toEqual([])
  })
})

describe('the configuration', () => {
  test.each([
    ['[]', '`checks` at testops-admin.yaml:4 is an empty list'],
    ['checks/a.mjs', '`checks` at testops-admin.yaml:4 must be a list, not text'],
    ['[checks/a.ts]', /^`checks\[0\]` at testops-admin.yaml:4 must be a file named with lower-case letters/],
    ['[checks/A.mjs]', /^`checks\[0\]` at testops-admin.yaml:4 must be a file named with lower-case letters/],
    ['[a.mjs, other/a.js]', '`checks[1]` at testops-admin.yaml:4 is a second file for check `own/a`'],
    [
      '[a.mjs], ignore: [{check: own/b, reason: x, until: 2999-01-31}]',
      /^`ignore\[0\].check` at testops-admin.yaml:4 is not the id of a check; did you mean `own\/a`\?$/,
    ],
  ])('checks: %s', async (value, message) => {
    await place.write('testops-admin.yaml', `deployments:\n  prod:\n    {platform: host,\n    checks: ${value}}\n`)
    const { exitCode, stdout } = await examine()
    expect(exitCode).toBe(64)
    expect((JSON.parse(stdout) as { error: { message: string } }).error.message).toMatch(message)
  })

  test('can ignore a problem of an own check', async () => {
    const text = running("return {status: 'problem', severity: 'error', findings: [{message: 'bad', evidence: []}]}")
    const more =
      'broker: {url: "amqp://a@127.0.0.1:1"}\n    ignore: [{check: own/waiting, reason: known, until: 2999-01-31}]'
    expect(await only(text, { more })).toMatchObject({ status: 'skipped', exitCode: 0 })
  })

  test.each([
    ['it is wrong', "throw new Error('one\\n\\x1b[2Jtwo ' + 'x'.repeat(2000))", 64, /Not loaded: .* one .*two x+…/],
    ['it cannot be judged', 'process.exit(3)', 3, /Not loaded: .* ended before it returned: it exited with 3/],
    ['it is fine', running(fine), 0, /error or warning; reads no source; in .*waiting\.mjs/],
  ])('checks says in a few lines why a file cannot be loaded: %s', async (_, text, exitCode, said) => {
    await configured({ 'waiting.mjs': text })
    const ended = await place.run(['checks'])
    const shown = ended.stdout.slice(ended.stdout.indexOf('own/waiting'))
    expect([ended.exitCode, ended.stderr]).toEqual([exitCode, ''])
    expect(shown.replace(/\s+/g, ' ')).toMatch(said)
    expect(shown).not.toContain('\x1b')
    expect(shown.includes('1 own check could not be loaded.')).toBe(exitCode !== 0)
    expect(shown.length).toBeLessThan(1500)
  })

  test('checks hides the secrets of the configuration, which a file can read', async () => {
    const secrets = { inEnvironment: 'hunter2-a-horse', inFile: 'staple3-a-battery' }
    writeFileSync(join(place.directory, 'redis.txt'), `${secrets.inFile}\n`, { mode: 0o600 })
    const text =
      "import { readFileSync } from 'node:fs'\n" +
      "throw new Error(`cannot sign in with ${process.env.TOK} ${readFileSync('../redis.txt', 'utf8')}`)"
    await configured(
      { 'waiting.mjs': text },
      'url: "http://127.0.0.1:1"\n    apiToken: {env: TOK}\n' +
        '    sessions: {url: "redis://127.0.0.1:1", password: {file: redis.txt}}',
    )
    for (const words of [['checks'], ['checks', '--json'], ['doctor', '--only', 'own', '--json']]) {
      const { stdout, stderr } = await place.run(words, { environment: { TOK: secrets.inEnvironment } })
      expect(stdout).toContain('cannot sign in with')
      for (const secret of Object.values(secrets)) expect(stdout + stderr).not.toContain(secret)
    }
  })

  test('checks lists them with their files, and completion by their names', async () => {
    await configured({ 'waiting.mjs': running(fine), 'broken.mjs': '(' })
    const { stdout, exitCode } = await place.run(['checks', '--json'])
    const document = JSON.parse(stdout) as ChecksDocument
    expect([exitCode, faultsOf('checks', document)]).toEqual([64, []])
    const file = join(place.directory, 'checks/broken.mjs')
    const message = `check file ${file} has a syntax error in line 1: Unexpected end of input`
    const own = document.checks.filter((it) => it.file !== undefined)
    expect(own).toMatchObject([
      { id: 'own/waiting', title: 'few rows wait', file: join(place.directory, 'checks/waiting.mjs') },
      {
        id: 'own/broken',
        title: 'the check in broken.mjs passes',
        error: { code: 'CONFIGURATION', message, suggestions: [`sed -n 1,2p ${file}`] },
      },
    ])
    expect(own[0]).not.toHaveProperty('error')
    const completed = await place.run(['completion', 'bash', '--line', '--', 'doctor', '--only', 'own/'])
    expect(completed.stdout).toBe('own/waiting\nown/broken\n')
  })
})

test('a saved report is read with what own checks found, and runs none of them', async () => {
  const mark = join(place.directory, 'mark')
  const text = running(
    `(await import('node:fs')).appendFileSync(${JSON.stringify(mark)}, 'x'); return {status: 'problem', severity: ` +
      "'error', findings: [{message: 'bad', evidence: ['seen']}]}",
  )
  await configured({ 'waiting.mjs': text, 'broken.mjs': '(' })
  const made = await place.run(['report', '--output', 'saved.tar.gz'])
  expect([made.exitCode, made.stderr]).toEqual([0, ''])
  expect(readFileSync(mark, 'utf8')).toBe('x')
  const all = await place.run(['doctor', '--from', 'saved.tar.gz', '--json'])
  const report = JSON.parse(all.stdout) as DoctorReport
  expect(faultsOf('doctor', report)).toEqual([])
  expect(all.exitCode).toBe(1)
  expect(report.rootCauses).toContain('own/waiting')
  expect(report.checks.slice(-2)).toMatchObject([
    { id: 'own/waiting', status: 'problem', findings: [{ message: 'bad', evidence: ['seen'] }] },
    { id: 'own/broken', status: 'unknown' },
  ])
  const one = await place.run(['doctor', '--from', 'saved.tar.gz', '--json', '--only', 'own/broken'])
  expect([one.exitCode, (JSON.parse(one.stdout) as DoctorReport).checks.map(({ id }) => id)]).toEqual([
    3,
    ['own/broken'],
  ])
  expect(readFileSync(mark, 'utf8')).toBe('x')
})

test('a check of a stopped part is explained by that part', async () => {
  cpSync(join(import.meta.dirname, '../../templates/check.mjs'), join(place.directory, 'checks/waiting.mjs'))
  await configure(['checks/waiting.mjs'])
  const ended = await place.run(['doctor', '--json', '--only', 'broker/reachable,own'])
  expect(reportIn(ended)).toMatchObject({
    rootCauses: ['broker/reachable'],
    checks: [{ id: 'broker/reachable' }, { id: 'own/waiting', status: 'unknown', because: 'broker/reachable' }],
  })
})

test('the example of the documents reads a real database', async () => {
  const database = await freshDatabase()
  try {
    await database.query('CREATE TABLE outbox (id int, created_at timestamptz, sent_at timestamptz)')
    await database.query(`GRANT SELECT ON outbox TO ${database.endpoint.user}`)
    const page = readFileSync(join(import.meta.dirname, '../../docs/own-checks.md'), 'utf8')
    const text = /```js\n(?<code>.*?)```/s.exec(page)!.groups!['code']!
    const more = `database: {url: "${database.url.replace(/:[^:@]+@/, '@')}", password: {env: DB}}`
    await configured({ 'outbox.mjs': text }, more)
    const run = async (): Promise<[number | null, CheckReport]> => {
      const ended = await place.run(['doctor', '--json', '--only', 'own'], {
        environment: { DB: database.endpoint.password!.reveal() },
      })
      return [ended.exitCode, reportIn(ended).checks[0]!]
    }
    expect(await run()).toMatchObject([0, { id: 'own/outbox', status: 'ok', detail: '0 rows wait' }])
    await database.query("INSERT INTO outbox SELECT n, now() - interval '1 hour', NULL FROM generate_series(1, 150) n")
    expect(await run()).toMatchObject([
      1,
      { status: 'problem', findings: [{ message: expect.stringMatching(/^150 rows wait/) as string }] },
    ])
    await database.query('DROP TABLE outbox')
    const [exitCode, { status, error }] = await run()
    expect([exitCode, status, error?.code]).toEqual([3, 'unknown', 'UNEXPECTED_ANSWER'])
    const line = text.split('\n').findIndex((it) => it.includes('main.select')) + 1
    expect(error?.message).toMatch(/^check `own\/outbox` failed: .*: relation "outbox" does not exist \(42P01\) /)
    expect(error?.message).toMatch(new RegExp(`\\(outbox\\.mjs:${line}\\)$`))
    expect(error?.suggestions).toEqual([`less ${join(place.directory, 'checks/outbox.mjs')}`])
  } finally {
    await database.cleanup()
  }
})
