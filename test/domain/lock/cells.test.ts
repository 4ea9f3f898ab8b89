import { describe, expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { Secret, UnreadableSecret } from '../../../src/core/secret.ts'
import { judgeHolder } from '../../../src/domain/lock/holder.ts'
import { situationOf, surroundings } from '../../../src/domain/lock/situation.ts'
import type { DatabaseBackend, ServiceSource } from '../../../src/core/sources.ts'
import {
  ago,
  backend,
  fakeApi,
  fakeDatabase,
  fakeLogs,
  fakeService,
  lockRow,
  record,
  running,
  settings,
  stopped,
  unreachable,
} from '../../fakes/index.ts'

const minute = 60_000
const hour = 60 * minute

/** Local time of a JVM so many hours east of UTC. */
function written(at: Date, east: number): string {
  return new Date(at.getTime() + east * hour).toISOString().slice(0, 23).replace('T', ' ')
}

/** `east`: where the holder's JVM really lives; `named`: what the configuration says. */
const zones = [
  { zone: 'known', named: 'UTC', east: 0 },
  { zone: 'wrong, the JVM lives west of it', named: 'UTC', east: -5 },
  { zone: 'wrong, the JVM lives east of it', named: 'UTC', east: 9 },
  { zone: 'unknown', named: null, east: 0 },
  { zone: 'unknown, the JVM lives west', named: null, east: -8 },
]
/** What the holder's session shows; `none`: it is hidden behind a pooler, or the holder has ended. */
const states = [
  { state: 'active', of: { state: 'active', query: 'UPDATE test_case SET name = name' } },
  { state: 'idle in transaction', of: { state: 'idle in transaction', query: 'SHOW SEARCH_PATH' } },
  { state: 'idle', of: { state: 'idle', query: 'SELECT 1' } },
  { state: 'none', of: null },
] as const
/**
 * Before the holder. `known`: this program goes through it as well; else the service's settings lead to it; or nothing
 * tells of it.
 */
const poolers = [
  { pooler: 'none', known: false, settingsLead: false, isYoung: false },
  { pooler: 'session, that is known', known: true, settingsLead: false, isYoung: false },
  { pooler: 'session, to which the settings lead', known: false, settingsLead: true, isYoung: true },
  { pooler: 'transaction, that is known', known: true, settingsLead: false, isYoung: true },
  { pooler: 'transaction, to which the settings lead', known: false, settingsLead: true, isYoung: true },
  { pooler: 'transaction, of which nothing tells', known: false, settingsLead: false, isYoung: true },
]
/** Where the service's settings lead: whether a pooler is there is known by the first alone. */
const routes: readonly {
  route: string
  isTold: boolean
  set: Readonly<Record<string, string | Secret | undefined>> | null
}[] = [
  {
    route: 'the database itself',
    isTold: true,
    set: { SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops' },
  },
  {
    route: 'the database itself, by a Secret',
    isTold: true,
    set: { SPRING_DATASOURCE_URL: new Secret('jdbc:postgresql://db.example.org:5432/testops', { mayAppear: true }) },
  },
  {
    route: 'a pooler, by a Secret',
    isTold: false,
    set: { SPRING_DATASOURCE_URL: new Secret('jdbc:postgresql://db.example.org:6432/testops', { mayAppear: true }) },
  },
  {
    route: 'a Secret that may not be read',
    isTold: false,
    set: { SPRING_DATASOURCE_URL: new UnreadableSecret(new Error('no')) },
  },
  { route: 'not set, since it stands in a file', isTold: false, set: { SPRING_DATASOURCE_URL: undefined } },
  { route: 'none that can be read', isTold: false, set: null },
  {
    route: 'another host on the same port',
    isTold: false,
    set: { SPRING_DATASOURCE_URL: 'jdbc:postgresql://pg.internal:5432/testops' },
  },
  {
    route: 'a pooler, of Liquibase alone',
    isTold: false,
    set: {
      SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops',
      SPRING_LIQUIBASE_URL: 'jdbc:postgresql://db.example.org:6432/testops',
    },
  },
  {
    route: 'a pooler, by an option of the JVM',
    isTold: false,
    set: {
      SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops',
      JAVA_OPTS: '-Xmx1g -Dspring.datasource.url=jdbc:postgresql://db.example.org:6432/testops',
    },
  },
  {
    route: 'a pooler, by the pool itself',
    isTold: false,
    set: {
      SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops',
      SPRING_DATASOURCE_HIKARI_JDBC_URL: 'jdbc:postgresql://db.example.org:6432/testops',
    },
  },
]
/** As whom the holder signs in. The first two are the service's. */
const users = [
  { as: 'the service', user: 'testops', set: {} },
  { as: 'a user of its Liquibase alone', user: 'migrator', set: { SPRING_LIQUIBASE_USER: 'migrator' } },
  {
    as: 'a user of its Liquibase alone, by a Secret',
    user: 'migrator',
    set: { SPRING_LIQUIBASE_USER: new Secret('migrator', { mayAppear: true }) },
  },
  { as: 'somebody else', user: 'dba', set: {} },
] as const
/** From where the holder's session comes; `shared`: others run beside the service, in its container or pod. */
const froms = [
  { from: 'another machine', address: '10.0.0.8', shared: false },
  { from: 'the container or pod of the service, beside it', address: '10.0.0.7', shared: true },
]
const hosts = [
  { host: 'same', lockedBy: 'testops-1 (10.0.0.7)' },
  { host: 'other', lockedBy: 'elsewhere (10.0.0.9)' },
  { host: 'an address alone', lockedBy: '172.17.0.1 (172.17.0.1)' },
  { host: 'nobody', lockedBy: null },
]
const servers = [
  { server: 'primary', inRecovery: false, startedAgo: 24 * 40 * hour },
  {
    server: 'primary that was started after the lock by the named zone alone',
    inRecovery: false,
    startedAgo: 20 * minute,
  },
  { server: 'standby', inRecovery: true, startedAgo: 10 * minute },
]
/**
 * How old the lock is: younger than a start of the database that looks younger by a wrong zone, within the hours in
 * which zones differ, and older than all of them.
 */
const ages = [
  { age: '10 min', takenAgo: 10 * minute + 20_000 },
  { age: '30 min', takenAgo: 30 * minute + 20_000 },
  { age: '30 h', takenAgo: 30 * hour + 20_000 },
]
/** of a lock that was taken after the service was started again, by somebody else */
const younger = { age: '5 min', takenAgo: 5 * minute + 20_000 }
/** A moment ago, whenever that is asked, as all times of a cell: the table takes longer than a wait lies back. */
const waits = (): ReturnType<typeof fakeLogs> =>
  fakeLogs({
    recent: {
      complete: true,
      records: [record('liquibase.lockservice : Waiting for changelog lock....', { at: ago(5000) })],
    },
  })
/**
 * What the service does meanwhile. The holder is another process: Liquibase by hand, or a JVM that outlived its
 * container.
 */
const services = [
  { service: 'stopped', status: () => stopped(), answers: false, logs: () => fakeLogs() },
  { service: 'restarted since', status: () => started(10 * minute), answers: false, logs: () => fakeLogs() },
  {
    service: 'restarted since, and answers',
    status: () => started(10 * minute),
    answers: true,
    logs: () => fakeLogs(),
  },
  { service: 'restarted since, and waits', status: () => started(10 * minute), answers: false, logs: waits },
  { service: 'older, and answers', status: () => started(40 * hour), answers: true, logs: () => fakeLogs() },
  { service: 'older, and waits', status: () => started(40 * hour), answers: false, logs: waits },
]

function started(ageMs: number): ReturnType<typeof running> {
  return running({ instances: [{ name: 'testops.service', host: 'testops-1', pid: 900, startedAt: ago(ageMs) }] })
}

interface Cell extends Partial<More> {
  zone: (typeof zones)[number]
  session: (typeof states)[number]
  pooler: (typeof poolers)[number]
  host: (typeof hosts)[number]
  server: (typeof servers)[number]
  age: (typeof ages)[number]
  service: (typeof services)[number]
}

interface More {
  route: (typeof routes)[number]
  as: (typeof users)[number]
  from: (typeof froms)[number]
}

function all(): Cell[] {
  return zones.flatMap((zone) =>
    states.flatMap((session) =>
      poolers.flatMap((pooler) =>
        hosts.flatMap((host) =>
          servers.flatMap((server) =>
            ages.flatMap((age) => services.map((service) => ({ zone, session, pooler, host, server, age, service }))),
          ),
        ),
      ),
    ),
  )
}

/** The service's own session, which is at work on nothing, and comes from where the platform sees it. */
const own = (): ReturnType<typeof backend> =>
  backend({ pid: 77, clientAddress: '10.0.0.7', state: 'idle', startedAt: ago(9 * minute) })

/** The whole table of what else there is, with a few of the cells above. */
function further(): (Cell & More)[] {
  const [host] = hosts
  const [pooler] = poolers
  const [server] = servers
  return zones
    .filter(({ zone }) => zone !== 'unknown, the JVM lives west')
    .flatMap((zone) =>
      states.flatMap((session) =>
        [younger, ...ages].flatMap((age) =>
          services.flatMap((service) =>
            routes.flatMap((route) =>
              users.flatMap((as) =>
                froms.map((from) => ({
                  zone,
                  session,
                  pooler: pooler!,
                  host: host!,
                  server: server!,
                  age,
                  service,
                  route,
                  as,
                  from,
                })),
              ),
            ),
          ),
        ),
      ),
    )
}

async function verdictOf({
  zone,
  session,
  pooler,
  host,
  server,
  age,
  service,
  route,
  as,
  from,
}: Cell): Promise<string> {
  const taken = ago(age.takenAgo)
  const { user = 'testops', set = {} } = as ?? {}
  const holder: DatabaseBackend[] =
    session.of === null
      ? []
      : [
          backend({
            pid: 66,
            user,
            clientAddress: pooler.pooler === 'none' ? (from?.address ?? '10.0.0.8') : '10.0.0.20',
            startedAt: pooler.isYoung ? ago(2 * minute) : new Date(taken.getTime() - 2000),
            ...session.of,
          }),
        ]
  const url = `jdbc:postgresql://${pooler.settingsLead ? 'db.example.org:6432' : 'db.example.org:5432'}/testops`
  const source: ServiceSource = fakeService({
    status: service.status(),
    environment:
      route?.set === null
        ? new AdminError('FORBIDDEN', 'no')
        : settings({ SPRING_DATASOURCE_URL: url, SPRING_DATASOURCE_USERNAME: 'testops', ...set, ...route?.set }),
    origins:
      service.service === 'stopped'
        ? []
        : [
            {
              instance: 'testops.service',
              address: '10.0.0.7',
              port: null,
              to: null,
              ...(from?.shared && { shared: true as const }),
            },
          ],
  })
  const identity = {
    version: '15.8',
    user: 'testops',
    database: 'testops',
    startedAt: ago(server.startedAgo),
    inRecovery: server.inRecovery,
    port: 5432,
    pooled: pooler.known,
  }
  const database = fakeDatabase({ identity, backends: [...holder, ...(service.service === 'stopped' ? [] : [own()])] })
  const around = await surroundings(
    { service: source, logs: service.logs(), api: service.answers ? fakeApi() : unreachable('api') },
    { name: 'prod', platform: 'host', vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' }, timeZone: zone.named },
  )
  const row = lockRow({ locked: true, lockedBy: host.lockedBy, lockGranted: written(taken, zone.east) })
  return judgeHolder(await situationOf(database, row, around)).holder
}

function shown({ zone, session, pooler, host, server, age, service, route, as, from }: Cell): string {
  const more = route && as && from ? [`its settings lead to ${route.route}`, `as ${as.as}`, `from ${from.from}`] : []
  return [
    ...more,
    `zone ${zone.zone}`,
    `session ${session.state}`,
    `pooler ${pooler.pooler}`,
    `host ${host.host}`,
    server.server,
    `${age.age} old`,
    `service ${service.service}`,
  ].join('; ')
}

describe('a lock whose holder lives', () => {
  // a holder without a session that anybody sees lives behind a pooler, or on a server whose sessions a standby does
  // not show
  const isSeen = ({ session, pooler, server }: Cell): boolean =>
    session.of !== null || pooler.known || pooler.settingsLead || server.inRecovery
  // a start of the database ends all sessions of before
  const isOver = ({ server, age }: Cell): boolean => !server.inRecovery && server.startedAgo < age.takenAgo
  const live = all().filter((cell) => isSeen(cell) && !isOver(cell))
  const others = further().filter((cell) => cell.session.of !== null || !cell.route.isTold)
  test('is looked at in many situations', () => {
    expect(live.length).toBeGreaterThan(10_000)
    expect(others.length).toBeGreaterThan(10_000)
  })

  // each of these takes a second or more, so the table is no single test
  test.each(
    [
      { what: 'situations', cells: live },
      { what: 'situations of other users, settings and places', cells: others },
    ].flatMap(({ what, cells }) =>
      services.map((service) => {
        const its = cells.filter((cell) => cell.service === service)
        return [`${its.length} ${what}, service ${service.service}`, its] as const
      }),
    ),
  )('is not called dead in any of %s', async (_, its) => {
    const dead: string[] = []
    for (const cell of its) if ((await verdictOf(cell)) === 'dead') dead.push(shown(cell))
    expect(its.length).toBeGreaterThan(0)
    expect(dead).toEqual([])
  })
})

describe('a lock whose holder is gone', () => {
  const gone = all().filter(
    ({ zone, session, pooler, host, server, service }) =>
      session.of === null &&
      pooler.pooler === 'none' &&
      !server.inRecovery &&
      ['same', 'nobody'].includes(host.host) &&
      zone.zone === 'known' &&
      !service.service.startsWith('older'),
  )
  // one that has neither answered nor waited yet may be the holder, should the zone be another: it does so in a moment
  const isTold = ({ service, age }: Cell): boolean => service.service !== 'restarted since' || age.age === '30 h'
  test.each(
    gone
      .filter((cell) => cell.server.server === 'primary' && isTold(cell))
      .map((cell) => ({ title: shown(cell), cell })),
  )('is called dead: $title', async ({ cell }) => {
    expect(await verdictOf(cell), shown(cell)).toBe('dead')
  })

  const known = further().filter(
    ({ session, route, zone, from, service }) =>
      session.of === null && route.isTold && zone.zone === 'known' && !from.shared && service.service === 'stopped',
  )
  test(`is called dead in each of ${known.length} where its settings lead to the database itself`, async () => {
    for (const cell of known) expect(await verdictOf(cell), shown(cell)).toBe('dead')
    expect(known.length).toBe(32)
  })
})
