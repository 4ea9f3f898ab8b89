import { serviceUnfinishedRepair } from '../../../src/checks/service/unfinished-repair.ts'
import {
  fakeBroker,
  fakeDatabase,
  fakeRuns,
  fakeService,
  queue,
  runState,
  stopped,
  unreachable,
} from '../../fakes/index.ts'
import { AdminError } from '../../../src/core/error.ts'
import { eventOf, planOf, recordOf } from '../../engine/repairing.ts'
import type { CheckTable } from '../table.ts'

const run = '20261121T021244Z-unlock-changelog-1f3a'
const itsQueue = queue({ name: `testops-admin.run.${run}` })
const elsewhere = { record: recordOf(), events: [] }
const calledOver = { record: recordOf(), events: [eventOf({ event: 'ended' as const, outcome: 'done' as const })] }
const planted = {
  record: recordOf({
    plan: planOf({
      steps: [
        {
          title: 'release the lock',
          action: { kind: 'set-setting', name: 'JAVA_TOOL_OPTIONS', from: null, to: '-javaagent:/tmp/x.jar' },
          interrupts: false,
        },
      ],
    }),
  }),
  events: [],
}
const holder = { who: 'op@bastion (process 812)', what: 'unlock-changelog', since: new Date('2026-11-21T02:12:44Z') }
const itsLock = queue({
  name: 'testops-admin.lock',
  durable: false,
  exclusive: true,
  arguments: {
    'testops-admin.who': 'op@bastion',
    'testops-admin.what': 'unlock-changelog',
    'testops-admin.since': '2026-11-21T02:12:44Z',
  },
})

export const serviceUnfinishedRepairTable: CheckTable = {
  check: serviceUnfinishedRepair,
  cases: [
    { situation: 'nothing was ever repaired', status: 'ok', says: ['no repair on record'] },
    {
      situation: 'all repairs have come to their end',
      sources: { runs: fakeRuns({ list: [runState({ state: 'done', done: 3 }), runState({ state: 'undone' })] }) },
      status: 'ok',
      says: ['2 repairs on record'],
    },
    {
      situation: 'a repair was killed',
      sources: { runs: fakeRuns({ list: [runState()] }) },
      status: 'problem',
      severity: 'error',
      says: [
        `run ${run} is unfinished: unlock-changelog, started 2026-11-21 02:12:44Z by op@bastion; ` +
          '1 of 3 steps done',
        'stopped in: release the lock',
        `testops-admin resume ${run} -d prod`,
        `testops-admin undo ${run} -d prod`,
      ],
    },
    {
      situation: 'a repair was killed of which nothing can be taken back',
      sources: { runs: fakeRuns({ list: [runState({ onlyCloses: true })] }) },
      status: 'problem',
      severity: 'error',
      says: [
        'Its changes cannot be undone: `undo` only closes the run.',
        `testops-admin undo ${run} -d prod   # closes the run without undoing its changes`,
      ],
      silentOn: ['or undo'],
    },
    {
      situation: 'a repair was killed on another machine',
      sources: { runs: fakeRuns({ inDeployment: [elsewhere] }), broker: fakeBroker({ queues: [itsQueue] }) },
      status: 'problem',
      severity: 'error',
      says: ['from another machine', 'testops-admin history -d prod', `resume --adopt ${run} -d prod --dry-run`],
      silentOn: ['foreign-run', '--confirm'],
    },
    {
      situation: 'the broker has a queue of a run that this user may not read',
      sources: {
        runs: fakeRuns({ inDeployment: new AdminError('FORBIDDEN', 'RabbitMQ refuses read access') }),
        broker: fakeBroker({ queues: [itsQueue] }),
      },
      status: 'problem',
      severity: 'error',
      says: ['from another machine'],
    },
    {
      situation: 'a record of another machine calls its run over while the service is stopped',
      sources: {
        runs: fakeRuns({ inDeployment: [calledOver] }),
        broker: fakeBroker({ queues: [itsQueue] }),
        service: fakeService({ status: stopped() }),
      },
      status: 'problem',
      severity: 'error',
      says: ['from another machine is unfinished'],
    },
    {
      situation: 'a record of another machine calls its run over, and nothing is half done',
      sources: {
        runs: fakeRuns({ inDeployment: [calledOver] }),
        broker: fakeBroker({ queues: [itsQueue] }),
        service: fakeService(),
      },
      status: 'ok',
    },
    {
      situation: 'the broker has a record that this program never wrote',
      sources: { runs: fakeRuns({ inDeployment: [planted] }), broker: fakeBroker({ queues: [itsQueue] }) },
      status: 'problem',
      severity: 'warning',
      says: [
        'does not belong to any repair of this deployment: unlock-changelog never has these steps in this order: ' +
          'set-setting',
        `testops-admin discard ${run} -d prod`,
      ],
      silentOn: ['resume'],
    },
    {
      situation: 'the broker has a record that this program never wrote, and the service is stopped',
      sources: {
        runs: fakeRuns({ inDeployment: [planted] }),
        broker: fakeBroker({ queues: [itsQueue] }),
        service: fakeService({ status: stopped() }),
      },
      status: 'problem',
      severity: 'warning',
      says: [
        'but the service is stopped. Find out who wrote the record',
        `testops-admin discard ${run} -d prod --dry-run`,
        `testops-admin discard ${run} -d prod --accept-risk unfinished-run   # only if no repair is unfinished`,
      ],
    },
    {
      situation: 'the record is empty: its run was killed before it wrote',
      sources: {
        runs: fakeRuns({ inDeployment: [{ run, unreadable: 'the queue is empty', isEmpty: true }] }),
        broker: fakeBroker({ queues: [itsQueue] }),
      },
      status: 'problem',
      severity: 'warning',
      says: [
        'stopped before it changed anything',
        `list_queues name messages | grep testops-admin.run.${run}`,
        `testops-admin discard ${run} -d prod`,
      ],
      silentOn: ['belong to any'],
    },
    {
      situation: 'the record is empty, and the service is stopped',
      sources: {
        runs: fakeRuns({ inDeployment: [{ run, unreadable: 'the queue is empty', isEmpty: true }] }),
        broker: fakeBroker({ queues: [itsQueue] }),
        service: fakeService({ status: stopped() }),
      },
      status: 'problem',
      severity: 'warning',
      says: [
        `The saved record of run ${run} is empty, but the service is stopped`,
        `testops-admin discard ${run} -d prod --dry-run`,
        `--accept-risk unfinished-run`,
      ],
    },
    {
      situation: 'the broker has a record that is no record',
      sources: {
        runs: fakeRuns({ inDeployment: [{ run: '$(touch /tmp/x)', unreadable: 'it is damaged' }] }),
        broker: fakeBroker({ queues: [queue({ name: 'testops-admin.run.$(touch /tmp/x)' })] }),
      },
      status: 'problem',
      severity: 'warning',
      says: ["testops-admin discard '$(touch /tmp/x)' -d prod"],
    },
    {
      situation: 'a repair was killed here, and a record was planted beside it',
      sources: {
        runs: fakeRuns({ list: [runState({ run: run.replace('1f3a', '0000') })], inDeployment: [planted] }),
        broker: fakeBroker({ queues: [itsQueue] }),
      },
      status: 'problem',
      severity: 'error',
      says: ['is unfinished', 'does not belong to any repair'],
    },
    {
      situation: 'a run of this machine has its copy in the deployment',
      sources: { runs: fakeRuns({ list: [runState()] }), broker: fakeBroker({ queues: [itsQueue] }) },
      status: 'problem',
      severity: 'error',
      silentOn: ['another machine'],
    },
    {
      situation: 'a killed repair, with a broker that is away',
      sources: { runs: fakeRuns({ list: [runState()] }), broker: unreachable('broker') },
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'an operator of this machine is at work',
      sources: { runs: fakeRuns({ list: [runState()], operator: holder }) },
      status: 'ok',
      says: [
        'a repair is under way: op@bastion (process 812) has been running unlock-changelog since ' +
          '2026-11-21 02:12:44Z',
      ],
    },
    {
      situation: 'an operator of another machine is at work',
      sources: {
        runs: fakeRuns({ inDeployment: [elsewhere] }),
        broker: fakeBroker({ queues: [itsQueue] }),
        database: [fakeDatabase({ operator: holder })],
      },
      status: 'ok',
      says: ['a repair is under way'],
    },
    {
      situation: 'an operator of another machine is at work, and shares the broker alone',
      sources: {
        runs: fakeRuns({ list: [runState()], inDeployment: [elsewhere] }),
        broker: fakeBroker({ queues: [itsQueue, itsLock] }),
        database: unreachable('database'),
      },
      status: 'ok',
      says: ['a repair is under way: op@bastion has been running unlock-changelog since 2026-11-21 02:12:44Z'],
    },
    {
      situation: 'an operator of another machine is at work, as the platform alone tells',
      sources: {
        runs: fakeRuns({ list: [runState()] }),
        broker: unreachable('broker'),
        database: unreachable('database'),
        service: fakeService({ operator: holder }),
      },
      status: 'ok',
      says: [
        'a repair is under way: op@bastion (process 812) has been running unlock-changelog since ' +
          '2026-11-21 02:12:44Z',
      ],
    },
    {
      situation: 'a killed repair, and a platform that may not be asked who is at work',
      sources: {
        runs: fakeRuns({ list: [runState()] }),
        service: {
          ...fakeService(),
          operator: async () => Promise.reject(new AdminError('FORBIDDEN', 'may not get leases')),
        },
      },
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'an operator of another machine is at work, and says nothing of itself',
      sources: {
        runs: fakeRuns({ list: [runState()] }),
        broker: fakeBroker({
          queues: [{ ...itsLock, arguments: { 'testops-admin.who': 7, 'testops-admin.since': 'soon' } }],
        }),
      },
      status: 'ok',
      says: ['a repair is under way: an operator is running it'],
      silentOn: ['since'],
    },
    {
      situation: 'a queue has the name of the lock, and locks nobody out',
      sources: {
        runs: fakeRuns({ list: [runState()] }),
        broker: fakeBroker({ queues: [{ ...itsLock, exclusive: false, durable: true }] }),
      },
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'a journal that cannot be read',
      sources: { runs: unreachable('runs') },
      status: 'unknown',
      code: 'UNEXPECTED_ANSWER',
    },
  ],
}
