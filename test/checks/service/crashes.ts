import { serviceCrashes } from '../../../src/checks/service/crashes.ts'
import { AdminError } from '../../../src/core/error.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { InstanceEnd, InstanceHealth, LogRecord } from '../../../src/core/sources.ts'
import {
  ago,
  commands,
  fakeLogs,
  fakeService,
  health,
  instanceHealth,
  record,
  settings,
  stopped,
  unreachable,
} from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const minute = 60_000
const endedAt = (agoMs: number, of: Partial<InstanceEnd> = {}): InstanceEnd => ({
  reason: '',
  exitCode: 1,
  startedAt: ago(agoMs + minute),
  at: ago(agoMs),
  ...of,
})
const pod = (of: Partial<InstanceHealth> = {}): InstanceHealth =>
  instanceHealth({ name: 'testops-1', isReady: true, ...of })
const looping = (of: Partial<InstanceHealth> = {}): InstanceHealth =>
  pod({
    isUp: false,
    isReady: false,
    startedAt: null,
    waits: 'CrashLoopBackOff',
    ended: endedAt(minute),
    restarts: 4,
    ...of,
  })

const ownedByOthers = [
  {
    name: 'Rollout `testops`',
    instances: ['testops-1'],
    proof: ['kubectl get pod testops-1 -o yaml', 'kubectl get Rollout.v1alpha1.argoproj.io testops -o yaml'],
  },
]

type Answers = Parameters<typeof fakeService>[0]

/** Pods, and what the last run of each said. */
function pods(instances: readonly InstanceHealth[], { text, ...of }: { text?: string } & Answers = {}): Parts {
  const lastWords = text === undefined ? null : { command: 'kubectl logs testops-1 --previous', text }
  return { service: fakeService({ health: health({ wanted: instances.length, instances }), lastWords, ...of }) }
}

const failed = stopped({ state: 'failed', detail: 'failed (failed), result exit-code, exit status 1' })
const onHost = (records: readonly LogRecord[], ended: InstanceEnd = endedAt(minute)): Parts => ({
  service: fakeService({
    status: failed,
    health: health({ instances: [instanceHealth({ isUp: false, startedAt: null, ended })] }),
  }),
  logs: fakeLogs({ recent: { complete: true, records: [...records] } }),
})

const at = '2026-11-20 12:00:00.000'
const runFailed = [
  `${at} ERROR 1 --- [main] o.s.boot.SpringApplication : Application run failed`,
  '',
  'org.springframework.BeanCreationException: Error creating bean',
  '\tat a.b.C(C.java:1)',
  'Caused by: java.sql.SQLException: outer',
  '\tat a.b.C(C.java:2)',
  'Caused by: org.postgresql.util.PSQLException: inner',
]

export const serviceCrashesTable: CheckTable = {
  check: serviceCrashes,
  cases: [
    { situation: 'it runs and was never restarted', status: 'ok', says: ['the service has not crashed'] },
    {
      situation: 'it was stopped',
      sources: { service: fakeService({ status: stopped(), health: health({ instances: [] }) }) },
      status: 'ok',
      says: ['the service was stopped'],
    },
    {
      situation: 'its last restart is long ago',
      sources: pods([pod({ ended: endedAt(90 * minute), restarts: 7 })]),
      status: 'ok',
      says: ['7 restarts, none in the last 1 h'],
    },
    {
      situation: 'it is not ready, and its last end is long ago',
      sources: pods([pod({ isReady: false, ended: endedAt(90 * minute), restarts: 7 })]),
      status: 'ok',
    },
    {
      situation: 'a pod that was evicted long ago has others in its place',
      sources: pods([
        pod(),
        pod({
          name: 'testops-0',
          isUp: false,
          isReady: false,
          startedAt: null,
          ended: endedAt(300 * minute, { reason: 'Evicted: the node was low on resource: memory', exitCode: null }),
        }),
      ]),
      status: 'ok',
    },
    {
      situation: 'it came up again a moment ago',
      sources: pods(
        [
          pod({
            startedAt: ago(4 * minute),
            ended: endedAt(5 * minute, { exitCode: 137, reason: 'OOMKilled' }),
            restarts: 1,
          }),
        ],
        { text: 'bye' },
      ),
      status: 'problem',
      severity: 'warning',
      says: [
        new RegExp(
          String.raw`testops-1 is up again, it exited with 137 \(OOMKilled\) at \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ, ` +
            'restarted once: it used more memory than allowed',
        ),
        'kubectl logs testops-1 --previous',
        'bye',
        'Give the service more memory',
      ],
    },
    {
      situation: 'pods that another controller owns have no memory left',
      sources: pods([looping({ ended: endedAt(minute, { exitCode: 137, reason: 'OOMKilled' }) })], {
        status: stopped({ state: 'failed', startsAgain: true, ownedByOthers }),
      }),
      status: 'problem',
      severity: 'error',
      says: [
        'Give the service more memory',
        'Its pods belong to Rollout `testops`.',
        /\["kubectl get pod testops-1 -o yaml","kubectl get Rollout\.v1alpha1\.argoproj\.io testops -o yaml/,
      ],
      silentOn: ['{edit}', commands.edit, 'testops-admin service'],
    },
    {
      situation: 'pods that no controller owns end again and again',
      sources: pods([looping()], {
        status: stopped({
          state: 'failed',
          startsAgain: true,
          ownedByOthers: [
            { name: 'no controller', instances: ['testops-1'], proof: ['kubectl get pod testops-1 -o yaml'] },
          ],
        }),
        text: 'bye',
      }),
      status: 'problem',
      severity: 'error',
      says: ['Its pods belong to no controller.', 'kubectl get pod testops-1 -o yaml'],
      silentOn: ['testops-admin service start', 'testops-admin service restart'],
    },
    {
      situation: 'one of two pods ends again and again',
      sources: pods([looping(), pod({ name: 'testops-2' })], { text: runFailed.join('\n') }),
      status: 'problem',
      severity: 'warning',
      says: [
        'testops-1 does not stay up (CrashLoopBackOff), it exited with 1 at',
        'restarted 4 times',
        'Application run failed',
        'Caused by: org.postgresql.util.PSQLException: inner',
      ],
      silentOn: ['outer', 'C.java'],
    },
    {
      situation: 'all pods end, for a reason that is known, with what the platform says',
      sources: pods(
        [1, 2, 3, 4, 5].map((number) => looping({ name: `testops-${number}` })),
        {
          text:
            `${at}  INFO 1 --- [main] liquibase.lockservice : Waiting for changelog lock....\n${at} ERROR 1 --- ` +
            `[main] x : Could not acquire change log lock.  Currently locked by a\nlast line`,
          health: health({
            wanted: 5,
            instances: [1, 2, 3, 4, 5].map((number) => looping({ name: `testops-${number}` })),
            said: ['kubectl describe pod testops-1', 'BackOff: restarting'],
          }),
        },
      ),
      status: 'problem',
      severity: 'error',
      says: [
        'restarted 4 times: it did not get the change-log lock in time; 2 more instances are affected',
        'Could not acquire change log lock',
        'BackOff: restarting',
        'testops-admin explain database/changelog-lock',
      ],
      silentOn: ['testops-4', 'last line'],
    },
    {
      situation: 'it is ended while it waits for the lock',
      sources: pods([looping({ ended: endedAt(minute, { exitCode: 143 }) })], {
        text: `${at}  INFO 1 --- [main] liquibase.lockservice : Waiting for changelog lock....`,
      }),
      status: 'problem',
      severity: 'error',
      says: ['it exited with 143', 'it was killed while it waited for the change-log lock'],
    },
    {
      situation: 'its image cannot be pulled',
      sources: pods([
        pod({
          isUp: false,
          isReady: false,
          startedAt: null,
          waits: 'ImagePullBackOff: Back-off pulling image testops:9',
        }),
      ]),
      status: 'problem',
      severity: 'error',
      says: ['testops-1 cannot start (ImagePullBackOff: Back-off pulling image testops:9)'],
    },
    {
      situation: 'secrets in its last words are hidden',
      sources: pods([looping()], {
        text:
          `${at} ERROR 1 --- [main] x : cannot open jdbc:postgresql://me:hunter22@db/testops with s3cr3t-value, ` +
          'password=abc123, Bearer abc.def-ghi',
        environment: settings({ SPRING_DATASOURCE_PASSWORD: new Secret('s3cr3t-value') }),
      }),
      status: 'problem',
      severity: 'error',
      says: ['://[secret]@db/testops with [secret], password=[secret], Bearer [secret]'],
      silentOn: ['hunter22', 's3cr3t', 'abc123', 'abc.def'],
    },
    {
      situation: 'a secret at which a long line is cut is hidden whole',
      sources: pods([looping()], {
        text: `${`${at} ERROR 1 --- [main] x : `.padEnd(290, '-')} s3cr3t-value`,
        environment: settings({ SPRING_DATASOURCE_PASSWORD: new Secret('s3cr3t-value') }),
      }),
      status: 'problem',
      severity: 'error',
      says: ['-- [secret]'],
      silentOn: ['s3cr3t'],
    },
    {
      situation: 'settings in its last words that look secret are hidden, though its own are not known',
      sources: pods([looping()], {
        text:
          `${at} ERROR 1 --- [main] x : SPRING_DATASOURCE_PASSWORD="two words", accessToken='more of them' ` +
          '{"clientSecret": "abc123"}',
        environment: unreachable('service'),
      }),
      status: 'problem',
      severity: 'error',
      says: ['SPRING_DATASOURCE_PASSWORD=', 'accessToken=', 'clientSecret', '[secret]'],
      silentOn: ['words', 'more of', 'abc123'],
    },
    {
      situation: 'the log of its last run may not be read',
      sources: pods([looping()], {
        lastWords: new AdminError('FORBIDDEN', 'tester may not get pods/log', ['kubectl auth can-i get pods']),
      }),
      status: 'problem',
      severity: 'error',
      says: ['tester may not get pods/log', 'kubectl auth can-i get pods'],
    },
    {
      situation: 'a unit has failed, and its log holds runs before',
      sources: onHost(
        [
          record('x : Application run failed: of another run', { level: 'ERROR', at: ago(60 * minute) }),
          record(`${at}  INFO 1 --- [main] x : starting`, { at: ago(1.5 * minute) }),
          record(`${at} ERROR 1 --- [main] x : The Tomcat connector failed`, { level: 'ERROR', at: ago(1.2 * minute) }),
        ],
        endedAt(minute, { exitCode: 3 }),
      ),
      status: 'problem',
      severity: 'error',
      says: ['testops.service has failed, it exited with 3 at', 'journalctl -u testops', 'The Tomcat connector failed'],
      silentOn: ['of another run'],
    },
    {
      situation: 'a unit was killed, out of memory',
      sources: onHost([record('a line')], endedAt(minute, { reason: 'signal 9, oom-kill', exitCode: null })),
      status: 'problem',
      severity: 'error',
      says: ['it ended (signal 9, oom-kill) at', 'it used more memory than allowed'],
    },
    {
      situation: 'of a failure only the state is known, and the log',
      sources: {
        service: fakeService({ status: failed, health: health({ instances: [] }) }),
        logs: fakeLogs({
          recent: {
            complete: true,
            records: [record('java.lang.OutOfMemoryError: Java heap space', { level: 'ERROR' })],
          },
        }),
      },
      status: 'problem',
      severity: 'error',
      says: [
        'the service has failed: failed (failed), result exit-code',
        'its JVM had no memory left',
        'testops-admin explain service/crashes',
      ],
    },
    {
      situation: 'it has failed, and released a lock that another one holds',
      sources: onHost([
        record('liquibase.lockservice : Waiting for changelog lock....'),
        record('liquibase.lockservice : Successfully released change log lock'),
        record(
          'LockException: Could not acquire change log lock.  Currently locked by testops-2 (10.0.0.8) since ' +
            '11/21/26, 2:12 AM',
          { level: 'ERROR' },
        ),
      ]),
      status: 'problem',
      severity: 'error',
      says: [
        'when the service last started, it released the change-log lock of testops-2 (10.0.0.8), whose migration ' +
          'may still be running',
        'Keep the service stopped until the other migration has ended',
        'testops-admin service start -d prod --accept-risk running-migration   # once the other migration has ended',
        'testops-admin explain lock-stolen',
      ],
    },
    {
      situation: 'it ended before its first dated line, which seems to go on with the run before',
      sources: onHost([
        record('HikariPool-1 - Shutdown completed.\nTerminating due to java.lang.OutOfMemoryError: Java heap space', {
          at: ago(5 * minute),
        }),
      ]),
      status: 'problem',
      severity: 'error',
      says: ['its JVM had no memory left', 'Terminating due to java.lang.OutOfMemoryError'],
      silentOn: ['Shutdown completed'],
    },
    {
      situation: 'it ended without a word, and the run before ended with an error',
      sources: onHost([
        record('Application run failed\n\njava.lang.OutOfMemoryError: Java heap space\n\tat a.b.C(C.java:1)', {
          level: 'ERROR',
          at: ago(5 * minute),
        }),
      ]),
      status: 'problem',
      severity: 'error',
      says: ['Find out why the service stopped'],
      silentOn: ['memory', 'Application run failed'],
    },
    {
      situation: 'it was stopped after it had released a lock that another one holds',
      sources: {
        service: fakeService({ status: stopped(), health: health({ instances: [] }) }),
        logs: fakeLogs({
          recent: {
            complete: true,
            records: [
              record('liquibase.lockservice : Waiting for changelog lock....'),
              record('liquibase.lockservice : Successfully released change log lock'),
              record(
                'LockException: Could not acquire change log lock.  Currently locked by testops-2 (10.0.0.8) ' +
                  'since 11/21/26, 2:12 AM',
                { level: 'ERROR' },
              ),
            ],
          },
        }),
      },
      status: 'problem',
      severity: 'error',
      says: ['the service is stopped: ', 'Keep the service stopped until the other migration has ended'],
      silentOn: ['has failed'],
    },
    {
      situation: 'the platform cannot be asked',
      sources: { service: unreachable('service') },
      status: 'unknown',
      because: 'service/running',
    },
    {
      situation: 'the platform stops answering',
      sources: { service: fakeService({ health: new AdminError('TIMED_OUT', 'no answer') }) },
      status: 'unknown',
      code: 'TIMED_OUT',
    },
    {
      situation: 'nothing is known of how it is started',
      sources: { service: fakeService({ health: new AdminError('NOT_CONFIGURED', 'set host.unit') }) },
      status: 'ok',
    },
  ],
}
