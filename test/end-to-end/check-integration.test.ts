import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IntegrationDocument } from '../../src/output/integration.ts'
import { faultsOf } from '../output/schemas.ts'
import { basic, certificate, externalSystem, guarded } from '../support/external-system.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

let place: Place
beforeEach(async () => void (place = await freshPlace()))
afterEach(async () => place.remove())

const trusted = ['--ca', certificate('authority')]
const user = ['--user', 'bob', '--password-from', '@pw']

/** The document, which fits its schema. */
function documentIn({ stdout }: Ended): IntegrationDocument {
  const document = JSON.parse(stdout) as IntegrationDocument
  expect(faultsOf('check-integration', document)).toEqual([])
  return document
}

/** `step status cause` of the only system. */
function stepsIn(ended: Ended): string[] {
  const [{ steps }] = documentIn(ended).integrations as [IntegrationDocument['integrations'][number]]
  return steps.map(({ step, status, cause }) => [step, status, cause].filter(Boolean).join(' '))
}

const check = (...words: string[]): Promise<Ended> => place.run(['check-integration', ...words])

describe('without signing in', () => {
  test('a system that wants a user is fine, and nobody has signed in', async () => {
    const { url, asked } = await externalSystem(guarded('x'), 'localhost')
    await place.write('pw', 's3cret\n')
    const ended = await check('--url', `${url}/me`, ...user, ...trusted, '--json')
    expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
    expect(stepsIn(ended)).toEqual([
      'name ok',
      'connection ok',
      'certificate ok',
      'answer ok',
      'user ok',
      'password ok',
      'sign-in skipped',
    ])
    expect(asked).toEqual([{ line: 'GET /me', authorization: undefined }])
    expect(ended.stdout).not.toContain('s3cret')
  })

  test('a blank at the end of the password is named as one', async () => {
    const { url, port } = await externalSystem(guarded('x'), 'localhost')
    await place.write('pw', 's3cret \n')
    const { stdout, exitCode } = await check('--url', `${url}/me`, ...user, ...trusted)
    expect(exitCode).toBe(1)
    const shown = stdout
      .replaceAll(String(port), 'PORT')
      .replace(/ +localhost resolves to .*\n.*\n/, ' NAME\n')
      .replace(/\S+:PORT accepts connections \(\d+ ms\)/, 'ACCEPTS')
      .replace(/[\d,]+ days left/, 'DAYS left')
    expect(shown).toMatchInlineSnapshot(`
      "https://localhost:PORT/me
      ✔ name NAME
                     is named
      ✔ connection   ACCEPTS
      ✔ certificate  certificate for localhost, issued by testops-admin test
                     authority, valid until 2120-01-01 00:00:00Z: DAYS left
      ✔ answer       HTTP 401, 'authentication required': the external system asks for
                     credentials, as it should
      ✔ user         \`bob\`: the user is a name. If the external system refuses this
                     user, try an e-mail address, which some integrations need
      ✖ password     the password (the file pw) ends with 1 blank (U+0020). Such
                     characters count as part of the password
      - sign-in      skipped, because failed sign-ins may lock the account. To try the
                     credentials once, add --sign-in

      Credentials: enter them again in the integration's settings, with no spaces or
      invisible characters at either end.
          testops-admin explain integrations/credentials
      "
    `)
  })

  test.each([
    ['expired', ['--ca', certificate('external-authority')], 'certificate problem connectivity'],
    ['self-signed', [], 'certificate problem connectivity'],
    ['self-signed', ['--ca', certificate('self-signed')], 'certificate ok'],
  ])('a certificate that is %s %j', async (name, words, expected) => {
    const { url } = await externalSystem(guarded('x'), name)
    const ended = await check('--url', url, ...words, '--json')
    expect(stepsIn(ended)).toContain(expected)
    expect(ended.exitCode).toBe(expected.endsWith('ok') ? 0 : 1)
  })

  test('a changed API and no connectivity are told apart, and a warning ends with 2', async () => {
    const { url } = await externalSystem((request, response) =>
      response.writeHead(request.url === '/old' ? 308 : 410, { location: '/new' }).end(),
    )
    const [changed, moved, closed] = await Promise.all([
      check('--url', `${url}/api`, '--json'),
      check('--url', `${url}/old`, '--json'),
      check('--url', 'http://tracker.practice.invalid', '--json'),
    ])
    expect([changed, moved, closed].map(({ exitCode }) => exitCode)).toEqual([1, 2, 1])
    expect([changed, moved, closed].map((ended) => documentIn(ended).integrations[0]!.causes)).toEqual([
      ['api'],
      ['api'],
      ['connectivity'],
    ])
  })
})

describe('--sign-in', () => {
  test('tries once, says so before, and shows no secret', async () => {
    const { url, asked } = await externalSystem(guarded(basic('bob', 's3cret')), 'localhost')
    await place.write('pw', 's3cret')
    const ended = await check('--url', `${url}/me`, ...user, ...trusted, '--sign-in', '--json')
    expect([ended.exitCode, ended.stderr]).toEqual([
      0,
      `Signs in once: GET ${url}/me as bob, with the password from the file pw.\n`,
    ])
    expect(stepsIn(ended).at(-1)).toBe('sign-in ok')
    expect(asked.map(({ authorization }) => authorization)).toEqual([undefined, basic('bob', 's3cret')])
    expect(ended.stdout).not.toContain('s3cret')
  })

  test('tells wrong credentials, after one attempt', async () => {
    const { url, asked } = await externalSystem(guarded('x'), 'localhost')
    const ended = await place.run(
      ['check-integration', '--url', url, '--token-from', 'env:TRACKER', ...trusted, '--sign-in', '--json'],
      { environment: { TRACKER: 't0ken-value' } },
    )
    expect(ended.exitCode).toBe(1)
    expect(stepsIn(ended).at(-1)).toBe('sign-in problem credentials')
    expect(asked.map(({ authorization }) => authorization)).toEqual([undefined, 'Bearer t0ken-value'])
    expect(ended.stdout + ended.stderr).not.toContain('t0ken-value')
  })

  test('what is hidden from who gives no user is no changed API', async () => {
    const { url } = await externalSystem(
      (request, response) =>
        response
          .writeHead(request.headers.authorization === undefined ? 404 : 200, { 'content-type': 'application/json' })
          .end('{}'),
      'localhost',
    )
    await place.write('pw', 's3cret')
    const [asked, signedIn] = await Promise.all([
      check('--url', `${url}/api/me`, ...user, ...trusted, '--json'),
      check('--url', `${url}/api/me`, ...user, ...trusted, '--sign-in', '--json'),
    ])
    expect([asked.exitCode, stepsIn(asked)]).toMatchObject([
      1,
      expect.arrayContaining(['answer problem api', 'sign-in skipped']),
    ])
    expect([signedIn.exitCode, stepsIn(signedIn)]).toMatchObject([
      0,
      expect.arrayContaining(['answer ok', 'sign-in ok']),
    ])
  })

  test('of what a system says, nothing secret is shown', async () => {
    const { url } = await externalSystem(
      (request, response) =>
        response.writeHead(400).end(`you sent ${request.headers.authorization ?? 'password=hunter2'}`),
      'localhost',
    )
    await place.write('pw', 's3cret')
    const { stdout } = await check('--url', `${url}/api/me`, ...user, ...trusted, '--sign-in', '--json')
    expect(stdout).toMatch(/you sent password=\[secret\]/)
    expect(stdout).toMatch(/you sent Basic \[secret\]/)
    expect(stdout).not.toMatch(/hunter2|s3cret|Ym9i/)
  })

  test('an empty password is told before anything is asked', async () => {
    await place.write('pw', '')
    const ended = await check('--url', 'https://tracker.practice.invalid/', ...user, '--sign-in')
    expect([ended.exitCode, ended.stderr]).toMatchObject([64, expect.stringContaining('the file pw is empty')])
  })

  test('is refused over http://, before anything is asked, unless that is accepted', async () => {
    const { url, asked } = await externalSystem(guarded(basic('bob', 's3cret')))
    await place.write('pw', 's3cret')
    const refused = await check('--url', `${url}/me`, ...user, '--sign-in', '--json')
    expect([refused.exitCode, JSON.parse(refused.stdout)]).toMatchObject([
      4,
      {
        error: { code: 'REFUSED', suggestions: [expect.stringMatching(/--sign-in --json --accept-risk plain-http /)] },
      },
    ])
    expect(asked).toEqual([])
    const accepted = await check('--url', `${url}/me`, ...user, '--sign-in', '--accept-risk', 'plain-http', '--json')
    expect([accepted.exitCode, stepsIn(accepted).at(-1)]).toEqual([0, 'sign-in ok'])
  })

  test('is not tried where the certificate is not trusted', async () => {
    const { url, asked } = await externalSystem(guarded('x'), 'self-signed')
    await place.write('pw', 's3cret')
    expect(stepsIn(await check('--url', url, ...user, '--sign-in', '--json')).at(-1)).toBe('sign-in skipped')
    expect(asked.map(({ authorization }) => authorization)).toEqual([undefined])
  })
})

describe('with a deployment', () => {
  const commands = '{start: ["true"], stop: ["true"], status: ["true"]}'
  const configuration = (integrations: string): string => `deployments:
  prod:
    platform: host
    host: {commands: ${commands}, logs: {file: service.log}, environmentFile: service.env}
    database: {url: "postgresql://testops@127.0.0.1:1/testops"}
${integrations}`

  test('what the configuration names and what the log shows are looked at, each once', async () => {
    const [named, logged] = [
      await externalSystem(guarded('x')),
      await externalSystem((_, response) => response.writeHead(400).end()),
    ]
    await place.write('pw', 's3cret\u00a0\n')
    await place.write('service.env', 'SPRING_RABBITMQ_HOST=mq\n')
    await place.write(
      'service.log',
      [
        '2026-11-22 10:00:00.000 DEBUG 1 --- [   scheduling-1] v.p.i.http.HttpLoggingInterceptor : <-- 400 Bad ' +
          `Request http://127.0.0.1:${logged.port}/rest?token=abc (6ms, unknown-length body)`,
        '2026-11-22 10:00:01.000 ERROR 1 --- [   scheduling-1] v.p.i.Service : no',
        'java.net.UnknownHostException: tracker.practice.invalid',
        'java.net.UnknownHostException: mq',
        '',
      ].join('\n'),
    )
    await place.write(
      'testops-admin.yaml',
      configuration(
        `    integrations: [{name: jira, url: "${named.url}/me", user: bob@example.org, password: {file: pw}}]\n`,
      ),
    )
    const ended = await check('--json')
    const { deployment, integrations } = documentIn(ended)
    expect([ended.exitCode, deployment]).toEqual([1, 'prod'])
    expect(integrations.map(({ name, url, from, causes }) => ({ name, url, from, causes }))).toEqual([
      { name: 'jira', url: `${named.url}/me`, from: 'configuration', causes: ['credentials'] },
      { name: null, url: 'https://tracker.practice.invalid/', from: 'log', causes: ['connectivity'] },
      { name: null, url: `http://127.0.0.1:${logged.port}/rest`, from: 'log', causes: ['api'] },
    ])
    expect(integrations[0]!.steps.find(({ step }) => step === 'password')?.message).toContain(
      'ends with 1 no-break space (U+00A0)',
    )
    expect(named.asked).toEqual([{ line: 'GET /me', authorization: undefined }])
    expect(ended.stdout).not.toMatch(/s3cret|token=/)
  })

  test('a password that is missing keeps no other system from being looked at', async () => {
    const { url } = await externalSystem(guarded('x'))
    await place.write('service.log', '')
    await place.write('pw', 's3cret')
    const one = (name: string, file: string): string =>
      `{name: ${name}, url: "${url}/${name}", user: bob, password: {file: ${file}}}`
    await place.write(
      'testops-admin.yaml',
      configuration(`    integrations: [${one('jira', 'pw')}, ${one('wiki', 'nowhere')}]\n`),
    )
    const all = await check('--json')
    expect([all.exitCode, documentIn(all).integrations.map(({ name, verdict }) => [name, verdict])]).toEqual([
      3,
      [
        ['jira', 'ok'],
        ['wiki', 'unknown'],
      ],
    ])
    expect(documentIn(all).integrations[1]!.steps.find(({ step }) => step === 'password')).toMatchObject({
      status: 'unknown',
      message: expect.stringMatching(/nowhere cannot be read: the file is missing$/) as string,
    })
    expect((await check('--integration', 'jira', '--json')).exitCode).toBe(0)
    const missing = await check('--integration', 'wiki', '--json')
    expect([missing.exitCode, JSON.parse(missing.stdout)]).toMatchObject([64, { error: { code: 'SECRET_MISSING' } }])
  })

  test('a log that names no system ends with 3', async () => {
    await place.write('service.log', '2026-11-22 10:00:00.000  INFO 1 --- [main] a.B : Started\n')
    await place.write('testops-admin.yaml', configuration(''))
    const { stdout, exitCode } = await check()
    expect([exitCode, stdout]).toEqual([
      3,
      'Neither the configuration nor the log names an external system. Name one: testops-admin ' +
        'check-integration --url URL\n',
    ])
  })

  test('a log that cannot be read is an error, where nothing else names a system', async () => {
    await place.write('testops-admin.yaml', configuration(''))
    const { stdout, exitCode } = await check('--json')
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([69, { error: { code: 'UNAVAILABLE' } }])
  })

  test('a name that the configuration lacks is answered with those that it has', async () => {
    await place.write(
      'testops-admin.yaml',
      configuration('    integrations: [{name: jira, url: "https://jira.example.org"}]\n'),
    )
    const { stdout, exitCode } = await check('--integration', 'jria', '--json')
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([
      64,
      { error: { code: 'USAGE', suggestions: [expect.stringContaining('--integration jira'), expect.anything()] } },
    ])
  })
})

describe('what is given wrongly', () => {
  test.each([
    [
      ['--url', 'tracker.example.org'],
      /must begin with http:\/\/ or https:\/\/, most likely https:\/\/tracker\.example\.org$/,
    ],
    [['--url', 'https://bob:s3cret@tracker.example.org'], /contains credentials; leave them out$/],
    [
      ['--url', 'https://a.example.org', '--password-from', 's3cret'],
      /^--password-from needs the place where the value is kept, not the value itself: /,
    ],
    [
      ['--url', 'https://a.example.org', '--user-from', '@-', '--password-from', '@-'],
      /^standard input can be read only once: use @- for only one flag$/,
    ],
    [['--url', 'https://a.example.org', '--password-from', '@nowhere'], /^nowhere cannot be read: /],
    [['--url', 'https://a.example.org', '--sign-in'], /^--sign-in needs a user and a password, or a token$/],
    [
      ['--url', 'https://a.example.org', '--user', 'bob', '--password-from', '@/dev/null', '--sign-in'],
      /^cannot sign in: the file \/dev\/null is empty$/,
    ],
    [['--url', 'https://a.example.org', '--ca', 'pw'], /^pw has no certificate in PEM form$/],
    [['--user', 'bob'], /^credentials belong to one external system/],
    [
      ['--url', 'https://a.example.org', '--token-from', 'env:NOT_SET'],
      /^--token-from: the environment variable NOT_SET is not set$/,
    ],
  ])('%j', async (words, message) => {
    await place.write('pw', 's3cret')
    const { stdout, stderr, exitCode } = await check(...words, '--json')
    const { error } = JSON.parse(stdout) as { error: { message: string } }
    expect(exitCode).toBe(64)
    expect(error.message).toMatch(message)
    expect(stdout + stderr).not.toContain('s3cret')
  })
})
