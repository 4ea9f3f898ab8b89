import { ago, fakeService, running, settings } from '../../../fakes/index.ts'
import type { Case } from '../../table.ts'
import { database, down, held, minute, restarted, taken, waiter, waits, written } from './situation.ts'

const inTwoZones = (
  own: string | Readonly<Record<string, string>>,
  configured: string,
): Omit<Case, 'situation' | 'status'> => ({
  sources: {
    database: database([held({ lockGranted: written(taken, 9) })]),
    service: fakeService({
      status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(minute) }] }),
      environment: settings(typeof own === 'string' ? { TZ: own } : own),
    }),
    ...down,
  },
  deployment: { timeZone: configured },
})

/** It was written in the zone of a JVM that is elsewhere. */
export const zones: readonly Case[] = [
  {
    situation: 'the JVM lives nine hours ahead, and its zone is known',
    sources: { database: database([held({ lockGranted: written(taken, 9) })]), service: restarted, ...down },
    deployment: { timeZone: 'Asia/Tokyo' },
    status: 'problem',
    severity: 'error',
    says: [/Asia\/Tokyo \(30 min( \d+ s)? ago\)/, 'The holder is dead'],
  },
  {
    situation: 'the JVM lives nine hours ahead, and nobody says so',
    sources: {
      database: database([held({ lockGranted: written(taken, 9) })], [waiter]),
      service: restarted,
      logs: waits,
      ...down,
    },
    deployment: { timeZone: null },
    status: 'problem',
    severity: 'error',
    says: ['in an unknown time zone', 'the service itself is waiting for the lock'],
  },
  {
    situation: 'the zone is said in the service’s settings alone',
    sources: {
      database: database([held({ lockGranted: written(taken, 9) })]),
      service: fakeService({
        status: running({ instances: [{ name: 's', host: 'testops-1', pid: 1, startedAt: ago(minute) }] }),
        environment: settings({ TZ: 'Asia/Tokyo' }),
      }),
      ...down,
    },
    deployment: { timeZone: null },
    status: 'problem',
    severity: 'error',
    says: [/Asia\/Tokyo \(30 min( \d+ s)? ago\)/],
  },
  {
    situation: "the configuration and the service's settings name zones that differ",
    ...inTwoZones('Asia/Yekaterinburg', 'Asia/Tokyo'),
    status: 'problem',
    severity: 'error',
    says: [
      /Asia\/Tokyo \(30 min( \d+ s)? ago\)/,
      'grep TZ /etc/testops/testops.env',
      'TZ=Asia/Yekaterinburg',
      new RegExp(
        String.raw`timeZone in the configuration is Asia\/Tokyo, and overrides the service's setting, ` +
          String.raw`Asia\/Yekaterinburg\. ` +
          String.raw`lockgranted means \S+ \S+Z in Asia\/Tokyo, or \S+ \S+Z in Asia\/Yekaterinburg`,
      ),
    ],
  },
  {
    situation: 'the configuration and an option of the JVM name zones that differ',
    ...inTwoZones(
      { TZ: 'Asia/Tokyo', JAVA_TOOL_OPTIONS: '-Dkey=hush -Duser.timezone=Asia/Yekaterinburg' },
      'Asia/Tokyo',
    ),
    status: 'problem',
    severity: 'error',
    says: [
      'grep JAVA_TOOL_OPTIONS /etc/testops/testops.env',
      '-Duser.timezone=Asia/Yekaterinburg',
      /in Asia\/Tokyo, or \S+ \S+Z in Asia\/Yekaterinburg/,
    ],
    silentOn: ['hush'],
  },
  {
    situation: 'they name two zones of one time',
    ...inTwoZones(':Asia/Seoul', 'Asia/Tokyo'),
    status: 'problem',
    severity: 'error',
    silentOn: ['and counts', 'TZ='],
  },
  {
    situation: 'the zone of the settings is none',
    ...inTwoZones('Japan Time', 'Asia/Tokyo'),
    status: 'problem',
    severity: 'error',
    silentOn: ['and counts'],
  },
]
