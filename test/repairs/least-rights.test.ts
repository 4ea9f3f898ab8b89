import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RunEvent } from '../../src/core/run.ts'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { DoctorReport } from '../../src/core/check.ts'
import { writeSession } from '../adapters/stored-sessions.ts'
import { ownStore } from './flush-sessions/support.ts'
import { queueDeployment } from './reset-queues/own-broker.ts'
import { deploy } from './support/deploy.ts'
import { operator } from './support/operator.ts'
import type { Ended, Operator } from './support/operator.ts'
import { stuck } from './unlock-changelog/situation.ts'

/** The lines of a block of SECURITY.md, by what stands behind its opening marks. */
function rightsIn(title: string): string[] {
  const text = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8')
  const block = text.split('```').find((it) => it.startsWith(`${title}\n`))
  if (block === undefined) throw new Error(`SECURITY.md has no block ${title}`)
  return block.split('\n').slice(1).filter(Boolean)
}

/** Its end; what it printed is shown where that is another one. */
function expectDone(ended: Ended): void {
  expect([ended.code, ended.json<RepairDocument>().outcome], ended.stdout.slice(-2500) + ended.stderr).toEqual([
    0,
    'done',
  ])
}

/** What the checks of that group say, by their ids. */
async function looked(someone: Operator, group: string): Promise<Record<string, string>> {
  const ended = await someone.run(['doctor', '--only', group, '--json'])
  const { checks } = ended.json<DoctorReport>()
  return Object.fromEntries(
    checks.map((it) => [
      it.id,
      it.status === 'unknown' || it.status === 'skipped' ? `${it.status}: ${it.detail}` : it.status,
    ]),
  )
}

/** The rights that the doctor says are missing, and what to type about them, by the checks whose repair needs them. */
async function lackedBy(
  someone: Operator,
  group: string,
  ...more: string[]
): Promise<Record<string, string | undefined>> {
  const { checks } = (await someone.run(['doctor', '--only', group, '--json', ...more])).json<DoctorReport>()
  return Object.fromEntries(
    checks.flatMap(({ id, remedy }) =>
      remedy ? [[id, remedy.lacks && [remedy.lacks, ...(remedy.grant ?? [])].join('; ')]] : [],
    ),
  )
}

/**
 * The right that the doctor says is missing for the repair of that check. A diagnosis names what it gets to know in
 * 3 s, so on a busy machine it is made again until it names one.
 */
async function lackedInTime(someone: Operator, check: string): Promise<string | undefined> {
  const [group = ''] = check.split('/')
  let said: string | undefined
  const ask = async (): Promise<string | undefined> => (said = (await lackedBy(someone, group))[check])
  await expect.poll(ask, { timeout: 30_000 }).toBeDefined()
  return said
}

/** What a plan says about missing rights. */
async function notedBy(someone: Operator, ...words: string[]): Promise<string[]> {
  const ended = await someone.run([...words, '--dry-run', '--json'])
  const { plan, error } = ended.json<RepairDocument>()
  if (error) return [error.message]
  return plan.notes.filter((it) => it.includes('missing right'))
}

/** What the journal of this machine has on record of a run, by name. */
async function eventsOf({ state }: Operator, run: string): Promise<string[]> {
  const journal = await readFile(join(state, 'testops-admin', 'prod', 'runs', run, 'journal.jsonl'), 'utf8')
  return journal
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as RunEvent).event)
}

describe('the least rights of SECURITY.md are enough', () => {
  test('for PostgreSQL', async () => {
    const situation = await stuck()
    onTestFinished(async () => situation.leave())
    const { database, service } = situation
    // it is the tests' own, and writes as whoever frees the lock
    await database.query('DROP TRIGGER count_release ON databasechangeloglock')
    const { host, port } = database.endpoint.hosts[0]!
    const as = async (rights: string): Promise<Operator> => {
      const role = await database.role(rightsIn(rights).map((line) => line.replaceAll('operator', '{role}')))
      const login = { user: role.user, url: `postgresql://${host}:${port}/${database.name}` }
      const deployed = await deploy((secret) => ({
        url: service.url,
        platform: 'host',
        host: service.host,
        database: { ...login, password: secret(role.password!.reveal()) },
      }))
      const someone = await operator(deployed)
      onTestFinished(async () => {
        await someone.leave()
        await deployed.remove()
      })
      return someone
    }
    expect(await looked(await as('sql doctor'), 'database')).toEqual({
      'database/reachable': 'ok',
      'database/changelog-lock': 'problem',
      'database/connections': 'ok',
      'database/disk': 'ok',
    })
    const reader = await as('sql doctor')
    expect(await lackedInTime(reader, 'database/changelog-lock')).toMatch(/permission.*; .*GRANT/)
    const archive = join(reader.state, 'report.tar.gz')
    expect((await reader.run(['report', '--output', archive])).code).toBe(0)
    // a command that somebody else wrote down is not shown as this program's
    expect(await lackedBy(reader, 'database', '--from', archive)).toEqual({
      'database/changelog-lock': expect.stringMatching(/permission[^;]*$/) as string,
    })
    const repairer = await as('sql unlock-changelog')
    expect(await lackedBy(repairer, 'database')).toEqual({ 'database/changelog-lock': undefined })
    expectDone(await repairer.repair(['unlock-changelog']))
    expect(await situation.row()).toEqual({ locked: false, lockgranted: null, lockedby: null })
  }, 120_000)

  test('for RabbitMQ', async () => {
    const own = await queueDeployment('3')
    onTestFinished(async () => own.end())
    await own.fill('upload', ['1', '2'])
    const { vhost, endpoint } = own.vhost
    const manage: typeof own.vhost.manage = async (...asked) => own.vhost.manage(...asked)
    const name = `${endpoint.user}-operator`
    await manage('PUT', `/api/users/${name}`, { password: 'least', tags: '' })
    onTestFinished(async () => void (await manage('DELETE', `/api/users/${name}`)))
    // as rabbitmqctl does it, by the API
    const grant = async (rights: string): Promise<void> => {
      for (const line of rightsIn(rights)) {
        const [, verb, ...words] = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
        if (verb === 'set_user_tags') await manage('PUT', `/api/users/${name}`, { password: 'least', tags: words[1] })
        else
          await manage('PUT', `/api/permissions/${encodeURIComponent(vhost)}/${name}`, {
            configure: words[3],
            write: words[4],
            read: words[5],
          })
      }
    }
    await own.deployed.configure((secret) => ({
      url: own.service.url,
      platform: 'host',
      host: own.service.host,
      broker: {
        url: `amqp://${name}@${endpoint.host}:${endpoint.port}/${encodeURIComponent(vhost)}`,
        managementUrl: endpoint.managementUrl,
        password: secret('least'),
      },
    }))
    await grant('rabbitmq doctor')
    expect(await looked(own.operator, 'broker')).toEqual({
      'broker/reachable': 'ok',
      'broker/queues-durable': 'ok',
      'broker/upgrade': 'problem',
      'broker/alarms': 'ok',
    })
    await grant('rabbitmq journal')
    const restarted = await own.operator.repair(['service', 'restart'])
    expectDone(restarted)
    expect(await eventsOf(own.operator, restarted.json<RepairDocument>().run!)).toContain('copied')
    await grant('rabbitmq reset-queues')
    expect(await notedBy(own.operator, 'reset-queues', '--drain', '0')).toEqual([])
    const done = await own.operator.repair(['reset-queues', '--drain', '0'])
    expectDone(done)
    const { queues, ours } = await own.state()
    expect([queues['upload'], ours]).toEqual([
      { durable: true, autoDelete: false, arguments: expect.anything() as object, texts: ['1', '2'] },
      [],
    ])
  })

  // the management API shows permissions to administrators only; to others, the broker itself tells
  test.each(
    (['3', '4.3'] as const).flatMap((line) =>
      (['administrator', 'monitoring', 'management'] as const).map((tags) => [line, tags] as const),
    ),
  )(
    'permissions that a user of RabbitMQ %s with the tag %s lacks are named beforehand',
    async (line, tags) => {
      const own = await queueDeployment(line)
      onTestFinished(async () => own.end())
      const { vhost, endpoint } = own.vhost
      const { user, password } = endpoint
      const manage: typeof own.vhost.manage = async (...asked) => own.vhost.manage(...asked)
      const permit = async (configure: string, write: string, read: string): Promise<void> =>
        void (await manage('PUT', `/api/permissions/${encodeURIComponent(vhost)}/${user}`, { configure, write, read }))
      const found = line === '3' ? 'broker/upgrade' : 'broker/queues-durable'
      const noted = async (): Promise<string | undefined> =>
        (await notedBy(own.operator, 'reset-queues', '--drain', '0', '--accept-risk', 'unseen-policies'))[0]
      const expectLacking = async (right: string, object: string, grant = 'set_permissions'): Promise<void> => {
        const said = `user ${user} has no ${right} permission on ${object} (RabbitMQ at `
        expect(await noted()).toContain(`missing right: ${said}`)
        const told = await lackedInTime(own.operator, found)
        expect([told?.slice(0, said.length), told]).toEqual([
          said,
          expect.stringContaining(`; rabbitmqctl ${grant} -p ${vhost} ${user} `),
        ])
      }
      const expectNone = async (): Promise<void> =>
        expect([await noted(), (await lackedBy(own.operator, 'broker'))[found]]).toEqual([undefined, undefined])
      const before = await own.state()
      await manage('PUT', `/api/users/${user}`, { password: password!.reveal(), tags })
      await permit('^testops-admin', '.*', '.*')
      await expectLacking('configure', line === '3' ? "queue 'export'" : "exchange 'dead'")
      // this program does not read such a pattern
      await permit('^(?!work)', '.*', '.*')
      await expectLacking('configure', "exchange 'work'")
      if (line === '3') {
        await permit('.*', '^(export|upload|dead|work|testops-admin)', '.*')
        await expectLacking('write', "exchange 'amq.default'")
        await permit('.*', '.*', '^(export|upload|dead|work)')
        await expectLacking('read', "queue 'testops-admin.held.export'")
      }
      await permit('^[a-z]', '.*', '\\w')
      await expectNone()
      await permit('.*', '.*', '.*')
      await expectNone()
      expect(await own.state()).toEqual(before)
    },
    240_000,
  )

  test.each(['administrator', 'monitoring'])(
    'topic permissions that a user with the tag %s lacks are named beforehand',
    async (tags) => {
      const own = await queueDeployment('3')
      onTestFinished(async () => own.end())
      const { vhost, endpoint } = own.vhost
      const { user, password } = endpoint
      const manage: typeof own.vhost.manage = async (...asked) => own.vhost.manage(...asked)
      const channel = await (await own.connect()).createChannel()
      // RabbitMQ deletes this exchange of another program with its last binding, so the repair binds it
      await channel.assertExchange('theirs', 'topic', { durable: true, autoDelete: true })
      await channel.bindQueue('upload', 'theirs', 'upload.#')
      await manage('PUT', `/api/users/${user}`, { password: password!.reveal(), tags })
      const permit = async (exchange: string, read: string): Promise<void> =>
        void (await manage('PUT', `/api/topic-permissions/${vhost}/${user}`, { exchange, write: '.*', read }))
      const expectLacking = async (object: string, of: string): Promise<void> => {
        const said = `user ${user} has no read permission on ${object} (RabbitMQ at `
        const grant = `rabbitmqctl set_topic_permissions -p ${vhost} ${user} ${of} '.*' '.*'   # on the broker`
        const [note] = await notedBy(own.operator, 'reset-queues', '--drain', '0')
        const told = await lackedInTime(own.operator, 'broker/upgrade')
        expect([note, told]).toEqual([
          expect.stringContaining(`missing right: ${said}`),
          expect.stringContaining(`; ${grant}`),
        ])
        expect([note?.includes(`; \`${grant}\``), told?.slice(0, said.length)]).toEqual([true, said])
      }
      const before = await own.state()
      await permit('work', '^export$')
      await expectLacking("topic 'upload.#' in exchange 'work'", 'work')
      await permit('work', '.*')
      await permit('theirs', '^upload')
      await expectLacking("topic 'testops-admin.back.kept' in exchange 'theirs'", 'theirs')
      await permit('theirs', '^(upload|testops-admin)')
      expect(await notedBy(own.operator, 'reset-queues', '--drain', '0')).toEqual([])
      expect(await own.state()).toEqual(before)
    },
    120_000,
  )

  test('for Redis', async () => {
    const user = `operator-${process.pid}`
    const { client, someone } = await ownStore({}, { user, password: { env: 'LEAST' } })
    onTestFinished(async () => void (await client.call('ACL', 'DELUSER', user)))
    const grant = async (rights: string): Promise<void> => {
      for (const line of rightsIn(rights)) {
        const [, , ...rules] = line.split(' ')
        await client.call('ACL', 'SETUSER', user, ...rules.slice(1).map((it) => it.replace('>PASSWORD', '>least')))
      }
    }
    const env = { LEAST: 'least' }
    const all: Operator = {
      ...someone,
      run: async (words, options) => someone.run(words, { ...options, env }),
      repair: async (words, options) => someone.repair(words, { ...options, env }),
    }
    await writeSession(client, { user: 'anna' })
    await grant('redis doctor')
    expect(await looked(all, 'sessions')).toEqual({
      'sessions/reachable': 'ok',
      'sessions/clock': 'ok',
      'sessions/memory': 'ok',
    })
    // rights to count sessions and to begin a transaction, and none to remove one
    await client.call('ACL', 'SETUSER', user, '+multi', '+discard', '+smembers', '+zrange')
    const lacked = expect.stringMatching(/the user needs permission for UNLINK \(or DEL\) on keys /) as string
    expect(await notedBy(all, 'flush-sessions')).toEqual([lacked])
    await grant('redis flush-sessions')
    expect(await notedBy(all, 'flush-sessions', '--user', 'anna')).toEqual([])
    expectDone(await all.repair(['flush-sessions', '--user', 'anna']))
    await writeSession(client, { user: 'anna' })
    expectDone(await all.repair(['flush-sessions']))
    await writeSession(client, { user: 'anna' })
    await grant('redis flush-sessions --all')
    expectDone(await all.repair(['flush-sessions', '--all']))
    expect(await client.dbsize()).toBe(0)
  })
})
