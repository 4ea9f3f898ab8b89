import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { faultsOf } from '../../output/schemas.ts'
import { deploy } from '../support/deploy.ts'
import { failpointsOf, undoFailpointsOf } from '../support/failpoints.ts'
import { operator } from '../support/operator.ts'
import type { Ended, Operator } from '../support/operator.ts'
import { standIn } from '../support/stand-in.ts'
import type { StandIn } from '../support/stand-in.ts'
import { inner, spread } from '../../support/campaign.ts'

const before =
  '# of prod\nTZ=UTC\nVENDOR_ENDPOINT="https://old.example.org"\nSPRING_RABBITMQ_PASSWORD=former-secret\nLAST=1\n'
const newSecret = 'new-"secret"$ 1'

interface Situation {
  service: StandIn
  someone: Operator
  /** holds what is in it without its line's end */
  secretFile: string
  text: () => Promise<string>
  calls: () => Promise<string[]>
}

async function situation(settings = before): Promise<Situation> {
  const service = await standIn({ settings })
  const deployed = await deploy(() => ({ url: service.url, platform: 'host', host: service.host }))
  const someone = await operator(deployed)
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-secret-'))
  const secretFile = join(folder, 'secret')
  await writeFile(secretFile, `${newSecret}\n`)
  onTestFinished(async () => {
    await someone.leave()
    await Promise.all([service.end(), deployed.remove(), rm(folder, { recursive: true })])
  })
  return {
    service,
    someone,
    secretFile,
    text: async () => readFile(join(service.directory, 'service.env'), 'utf8'),
    calls: async () => service.calls(),
  }
}

function endOf(ended: Ended): object {
  const document = ended.json<RepairDocument>()
  expect(faultsOf('repair', document)).toEqual([])
  return { code: ended.code, outcome: document.outcome }
}
/** Every second one, beginning with the first or the second; there is no broker that keeps a copy of the journal. */
function points(kinds: readonly string[], place: 0 | 1): string[] {
  return spread(
    failpointsOf(kinds).filter((name) => name !== 'begin:copied' && (place === 0 || name !== 'end:after')),
    2,
    place,
  )
}
const done = { code: 0, outcome: 'done' }
const nothing = { code: 0, outcome: 'nothing-to-do' }

/** All that is kept on the machine, by its name. */
async function kept(folder: string): Promise<Record<string, string>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((it) => it.isFile())
  return Object.fromEntries(
    await Promise.all(
      files.map(async (it) => [it.name, await readFile(join(it.parentPath, it.name), 'utf8')] as const),
    ),
  )
}

describe('settings', () => {
  const words = ['set-env', 'VENDOR_ENDPOINT=https://new.example.org/a b', 'TZ-', 'ADDED=']
  const after =
    '# of prod\nVENDOR_ENDPOINT="https://new.example.org/a b"\nSPRING_RABBITMQ_PASSWORD=former-secret\nLAST=1\nADDED=\n'

  test('several in one restart, found set, taken back to the byte with another', async () => {
    const { someone, text, calls, service } = await situation()
    const ended = await someone.repair(words)
    expect([endOf(ended), await text(), await calls()]).toEqual([done, after, ['stop', 'start']])
    expect(endOf(await someone.repair(words))).toEqual(nothing)
    expect(ended.json<RepairDocument>().verification).toMatchObject({ 'service/running': 'ok' })
    expect(endOf(await someone.repair(['undo', ended.json<RepairDocument>().run!]))).toEqual(done)
    expect([await text(), await calls(), await service.isRunning()]).toEqual([
      before,
      ['stop', 'start', 'stop', 'start'],
      true,
    ])
  })

  test('without a restart, and of a stopped service, they are written alone', async () => {
    const { someone, calls, service, text } = await situation()
    const ended = await someone.repair(['set-env', 'LAST=2', '--no-restart'])
    expect([endOf(ended), ended.json<RepairDocument>().plan.notes]).toEqual([
      done,
      expect.arrayContaining(['the service is not restarted: the change takes effect at the next start']),
    ])
    await service.stop()
    const stopped = await someone.repair(['set-env', 'LAST=3'])
    expect([endOf(stopped), stopped.json<RepairDocument>().plan.notes]).toEqual([
      done,
      expect.arrayContaining(['the service stays stopped: the change takes effect at the next start']),
    ])
    expect([await calls(), await service.isRunning(), await text()]).toEqual([
      [],
      false,
      before.replace('LAST=1', 'LAST=3'),
    ])
  })

  test('by what they are for', async () => {
    const { someone, text } = await situation('VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=60\n')
    expect(
      endOf(
        await someone.repair([
          'set-env',
          '--token-lifetime',
          '3600',
          '--integration-debug',
          'on',
          '--durable-queues',
          'true',
          '--vendor-package',
          'VENDOR_PACKAGE',
          '--no-restart',
        ]),
      ),
    ).toEqual(done)
    expect(await text()).toBe(
      'VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=3600\nVENDOR_RABBIT_DURABLE=true\n' +
        'LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION=debug\n',
    )
    expect(endOf(await someone.repair(['set-env', '--integration-debug', 'off', '--no-restart']))).toEqual(done)
    expect(await text()).toBe('VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=3600\nVENDOR_RABBIT_DURABLE=true\n')
  })

  test('under no name that nothing shows, where there is something to write', async () => {
    const { someone, text } = await situation('TZ=UTC\n')
    const refused = await someone.repair(['set-env', '--durable-queues', 'true', '--no-restart'])
    expect([refused.code, refused.json<{ error: { message: string } }>().error.message]).toEqual([
      4,
      "the prefix of the vendor's settings is unknown: no name in the service's settings ends in " +
        '_RABBIT_DURABLE or _JWT_ACCESS_TOKEN_VALIDITY_SECONDS. Nothing was changed',
    ])
    expect(endOf(await someone.repair(['set-env', '--integration-debug', 'off', '--no-restart']))).toEqual(nothing)
    expect(
      endOf(await someone.repair(['set-env', '--durable-queues', 'true', '--vendor-prefix', 'ACME', '--no-restart'])),
    ).toEqual(done)
    expect(await text()).toBe('TZ=UTC\nACME_RABBIT_DURABLE=true\n')
  })

  test('under the names of the vendor that the settings bear', async () => {
    const { someone, text } = await situation(
      'ALLURE_REDIS_NAMESPACE=x\nLOGGING_LEVEL_IO_QAMETA_ALLURE_INTEGRATION=debug\n',
    )
    expect(
      endOf(await someone.repair(['set-env', '--token-lifetime', '60', '--integration-debug', 'off', '--no-restart'])),
    ).toEqual(done)
    expect(await text()).toBe('ALLURE_REDIS_NAMESPACE=x\nALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=60\n')
  })

  test.each(inner(points(['stop-service', 'set-setting', 'start-service'], 0), 2))(
    'killed at %s, gone on with',
    async (failpoint) => {
      const { someone, text, service } = await situation()
      await someone.killedAt(failpoint, words)
      const ended = await someone.run(['resume', '--json'])
      expect([ended.code, await text(), await service.isRunning()], ended.stdout).toEqual([0, after, true])
    },
  )

  test.each(inner(points(['stop-service', 'set-setting', 'start-service'], 1), 2))(
    'killed at %s, taken back',
    async (failpoint) => {
      const { someone, text, service } = await situation()
      await someone.killedAt(failpoint, ['set-env', 'LAST=2'])
      const { runs } = (await someone.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
      expect((await someone.repair(['undo', runs[0]!.run])).code).toBe(0)
      expect([await text(), await service.isRunning()]).toEqual([before, true])
    },
  )

  test('of two operators one is told who is at work', async () => {
    const { someone, text } = await situation()
    const first = someone.begin([...words, '--confirm', 'prod', '--json'], { failpoint: 'stop-service:stopped=stop' })
    await first.untilStopped()
    const second = await someone.repair(['set-env', 'LAST=9'])
    expect([second.code, second.json<RepairDocument>().error?.code]).toEqual([5, 'BUSY'])
    first.goOn()
    expect([endOf(await first.ended), await text()]).toEqual([done, after])
  })
})

describe('a secret', () => {
  const after = before.replace('former-secret', '"new-\\"secret\\"\\$ 1"')
  const secrets = /former-secret|new-.{0,2}secret/

  test(
    'from a file: neither value is told or kept, ' + 'but for the former one beside the journal until it is taken back',
    async () => {
      const { someone, text, calls, secretFile } = await situation()
      const words = ['set-env', `SPRING_RABBITMQ_PASSWORD=@${secretFile}`]
      const dry = await someone.run([...words, '--dry-run'])
      expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('set SPRING_RABBITMQ_PASSWORD, a secret')])
      const ended = await someone.repair(words)
      expect([endOf(ended), await text(), await calls()]).toEqual([done, after, ['stop', 'start']])
      expect(endOf(await someone.repair(words))).toEqual(nothing)
      const { 'former-SPRING_RABBITMQ_PASSWORD': former, ...others } = await kept(someone.state)
      expect(former).toBe('former-secret')
      const { run } = ended.json<RepairDocument>()
      expect(
        (await stat(join(someone.state, 'testops-admin', 'prod', 'runs', run!, 'former-SPRING_RABBITMQ_PASSWORD')))
          .mode & 0o777,
      ).toBe(0o600)
      expect(Object.values(others).join() + ended.stdout + ended.stderr + dry.stdout + dry.stderr).not.toMatch(secrets)
      const undone = await someone.repair(['undo', run!])
      expect([endOf(undone), await text()]).toEqual([done, before])
      expect(Object.values(await kept(someone.state)).join() + undone.stdout + undone.stderr).not.toMatch(secrets)
    },
  )

  test('from standard input, and a new one; taken away, and back', async () => {
    const { someone, text } = await situation('LAST=1\n')
    expect(endOf(await someone.repair(['set-env', 'API_TOKEN=@-', '--no-restart'], { input: 'abc\n' }))).toEqual(done)
    expect(await text()).toBe('LAST=1\nAPI_TOKEN=abc\n')
    const ended = await someone.repair(['set-env', 'API_TOKEN-', '--no-restart'])
    expect([endOf(ended), await text()]).toEqual([done, 'LAST=1\n'])
    expect(endOf(await someone.repair(['undo', ended.json<RepairDocument>().run!]))).toEqual(done)
    expect(await text()).toBe('LAST=1\nAPI_TOKEN=abc\n')
  })

  // there is no broker that keeps a copy of the journal
  test.each(
    inner(
      failpointsOf(['set-secret']).filter((name) => name !== 'begin:copied'),
      3,
    ),
  )('killed at %s, gone on with, and taken back', async (failpoint) => {
    const { someone, text, service, secretFile } = await situation()
    await someone.killedAt(failpoint, ['set-env', `SPRING_RABBITMQ_PASSWORD=@${secretFile}`])
    const ended = await someone.run(['resume', '--json'])
    expect([ended.code, await text(), await service.isRunning()], ended.stdout).toEqual([0, after, true])
    const { runs } = (await someone.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
    expect((await someone.repair(['undo', runs[0]!.run])).code).toBe(0)
    expect([await text(), await service.isRunning()]).toEqual([before, true])
  })

  test.each(inner(undoFailpointsOf(['set-secret']), 2))('killed at %s, while it is taken back', async (failpoint) => {
    const { someone, text, secretFile } = await situation()
    const { run } = (
      await someone.repair(['set-env', `SPRING_RABBITMQ_PASSWORD=@${secretFile}`])
    ).json<RepairDocument>()
    await someone.killedAt(failpoint, ['undo', run!])
    expect((await someone.run(['resume', '--json'])).code).toBe(0)
    expect(await text()).toBe(before)
  })

  test('whose source has changed, or was standard input, is not gone on with, and is taken back', async () => {
    for (const source of ['file', '-']) {
      const { someone, text, service, secretFile } = await situation()
      await someone.killedAt(
        'stop-service:stopped',
        ['set-env', `SPRING_RABBITMQ_PASSWORD=@${source === 'file' ? secretFile : '-'}`],
        { input: 'x' },
      )
      await writeFile(secretFile, 'another')
      const ended = await someone.run(['resume', '--json'])
      expect([ended.code, ended.json<RepairDocument>().error?.message]).toEqual([
        expect.any(Number),
        expect.stringContaining(
          source === 'file'
            ? `the value of SPRING_RABBITMQ_PASSWORD in ${secretFile} has changed since the plan was made`
            : 'the value of SPRING_RABBITMQ_PASSWORD came from standard input',
        ),
      ])
      expect(ended.code).not.toBe(0)
      const { runs } = (await someone.run(['history', '--json'])).json<{ runs: { run: string; state: string }[] }>()
      if (runs[0]!.state === 'unfinished') expect((await someone.repair(['undo', runs[0]!.run])).code).toBe(0)
      expect([await text(), await service.isRunning()]).toEqual([before, true])
    }
  })

  test('that somebody else has changed since is not taken back', async () => {
    const { someone, text, service, secretFile } = await situation()
    const { run } = (
      await someone.repair(['set-env', `SPRING_RABBITMQ_PASSWORD=@${secretFile}`])
    ).json<RepairDocument>()
    await service.settings('SPRING_RABBITMQ_PASSWORD=third\n')
    const ended = await someone.repair(['undo', run!])
    expect([ended.code, ended.json<RepairDocument>().error?.message]).toEqual([
      4,
      "somebody else has changed SPRING_RABBITMQ_PASSWORD in the service's settings",
    ])
    expect(await text()).toBe('SPRING_RABBITMQ_PASSWORD=third\n')
  })
})

describe('what is refused changes nothing', () => {
  const cases: { what: string; words: readonly string[]; said: string; code?: number; input?: string }[] = [
    { what: 'nothing', words: [], said: 'specify the setting to change' },
    { what: 'no assignment', words: ['TZ'], said: '`TZ` is neither NAME=VALUE nor NAME-' },
    { what: 'no name', words: ['A-B=1'], said: '`A-B` is not a valid setting name: use letters, digits and _' },
    { what: 'an empty name', words: ['=1'], said: '`` is not a valid setting name: use letters, digits and _' },
    {
      what: 'a flag that is none',
      words: ['--unset', 'TZ-'],
      said: 'unknown flag for `testops-admin set-env`: --unset',
    },
    {
      what: 'a secret in clear',
      words: ['SPRING_RABBITMQ_PASSWORD=abc123'],
      said:
        'SPRING_RABBITMQ_PASSWORD is a secret. Other users of this machine can read it on the command line, and ' +
        'the shell saves it in its history',
    },
    {
      what: 'an address with a password',
      words: ['X=amqp://u:abc123@h'],
      said:
        'X is a secret. Other users of this machine can read it on the command line, and the shell saves it in ' +
        'its history',
    },
    {
      what: 'a value that was printed without its secret',
      words: ['X=-Xmx2g -Dapi.key=[secret]'],
      said: 'the value of X contains `[secret]`, which testops-admin prints instead of a secret. Type the real value',
    },
    {
      what: 'the same from a file',
      words: ['X=@-'],
      input: 'a [secret-3] b\n',
      said: 'the value of X contains `[secret]`, which testops-admin prints instead of a secret. Type the real value',
    },
    { what: 'a line end', words: ['X=a\nb'], said: 'the value of X contains control characters or a line break' },
    {
      what: 'a file that is missing',
      words: ['X=@/no/such'],
      said: "/no/such cannot be read: ENOENT: no such file or directory, open '/no/such'",
    },
    { what: 'an empty secret', words: ['X=@-'], said: 'standard input is empty, so X would be empty too' },
    {
      what: 'a secret of two lines',
      words: ['X=@-'],
      input: 'abc123\nb\n',
      said: 'the value of X has control characters or more than one line',
    },
    { what: 'a setting twice', words: ['X=1', 'X-'], said: 'X appears twice. Each setting may appear only once' },
    {
      what: 'a setting by name and by flag',
      words: ['VENDOR_RABBIT_DURABLE=true', '--durable-queues', 'true', '--vendor-prefix', 'VENDOR'],
      said: 'VENDOR_RABBIT_DURABLE appears twice. Each setting may appear only once',
    },
    {
      what: 'a boolean that is none',
      words: ['VENDOR_RABBIT_DURABLE=ture', '--vendor-prefix', 'VENDOR'],
      said: 'VENDOR_RABBIT_DURABLE must be true or false, not `ture`',
    },
    {
      what: 'a number that is none',
      words: ['VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=1h', '--vendor-prefix', 'VENDOR'],
      said: 'VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS must be a number of seconds, not `1h`',
    },
    {
      what: 'a clear value for what holds a secret',
      words: ['SECRETIVE=1'],
      said:
        'SECRETIVE is a secret. Other users of this machine can read it on the command line, and the shell saves ' +
        'it in its history',
    },
    {
      what: 'a clear value in place of an address with a password',
      words: ['MQ=amqp://h'],
      said: 'MQ is a secret. Pass its new value in a file',
    },
  ]
  test.each(cases)('$what', async ({ words, said, input, code = 64 }) => {
    const { someone, text, calls } = await situation(`${before}MQ=amqp://u:p@h\n`)
    const ended = await someone.repair(['set-env', ...words], { ...(input !== undefined && { input }) })
    expect([ended.code, ended.json<{ error: { message: string } }>().error.message]).toEqual([code, said])
    expect(ended.stdout + ended.stderr).not.toContain('abc123')
    expect([await text(), await calls(), Object.keys(await kept(someone.state))]).toEqual([
      `${before}MQ=amqp://u:p@h\n`,
      [],
      [],
    ])
  })
})
