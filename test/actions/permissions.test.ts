import { describe, expect, test } from 'vitest'
import { handlerOf } from '../../src/actions/index.ts'
import type { Action } from '../../src/core/action.ts'
import type { Binding, BrokerControl, LackedPermission, PermissionAnswer } from '../../src/core/broker-control.ts'
import { AdminError } from '../../src/core/error.ts'
import type { BrokerPermissions } from '../../src/core/sources.ts'
import { brokerWorld, fakeDeployment } from '../fakes/index.ts'
import { workshopOf } from './workshop.ts'

const to = (source: string, routingKey: string): Binding => ({
  source,
  destination: 'upload',
  destinationKind: 'queue',
  routingKey,
  arguments: {},
})
const transient = { name: 'upload', durable: false, autoDelete: false, arguments: {} }
const discarding = (bindings: readonly Binding[]): Action => ({
  kind: 'delete-queues',
  queues: [{ queue: transient, holding: null }],
  bindings,
  discards: true,
  counts: { messages: 0 },
})

const all: BrokerPermissions = { configure: '.*', write: '.*', read: '.*' }
const none: PermissionAnswer = { lacked: null, unanswered: [] }

/** What a broker with that list was asked for, and what came of it. */
async function asked(
  action: Action,
  {
    permissions = all,
    tags = ['administrator'],
    answer = none,
    unread = false,
  }: {
    permissions?: BrokerPermissions | null
    tags?: readonly string[]
    answer?: PermissionAnswer
    /** Whether exchanges cannot be listed */
    unread?: boolean
  },
): Promise<{ questions: unknown[]; tried: unknown[]; ends: unknown[] }> {
  const broker = brokerWorld({
    queues: [transient],
    exchanges: [
      { name: 'direct', type: 'direct' },
      { name: 'work', type: 'topic' },
    ],
    answers: {
      permissions,
      tags,
      ...(unread && { exchanges: new AdminError('FORBIDDEN', 'no right') }),
    },
  })
  const questions: unknown[] = []
  const tried: unknown[] = []
  const control: BrokerControl = {
    ...broker.control,
    async lackedPermission({ bindings, ...of }) {
      questions.push(of.queues.length > 0 ? 'all' : bindings.map((it) => `${it.source} ${it.routingKey}`))
      return answer
    },
    async tryRights({ bindings }) {
      tried.push(bindings.map((it) => `${it.source} ${it.routingKey}`))
      return answer.unanswered
    },
  }
  const deployment = fakeDeployment({ broker: { ...broker, control } })
  const workshop = workshopOf(deployment)
  const end = async (work: Promise<void>): Promise<unknown> =>
    work.then(
      () => null,
      ({ code, message, suggestions }: AdminError) => [code, message, ...suggestions],
    )
  const handler = handlerOf(action)
  return {
    questions,
    tried,
    ends: [await end(handler.askRights!(action, workshop)), await end(handler.foresee!(action, workshop))],
  }
}

describe('the routing keys that the broker is asked for', () => {
  const keys = [to('direct', 'a'), to('direct', 'b'), to('work', 'c'), to('amq.topic', 'd')]
  const nowhere = 'testops-admin.nowhere'
  test.each([
    {
      what: 'are those of topic exchanges, and of those that no list has',
      bindings: keys,
      questions: [['work c', 'amq.topic d']],
      tried: [[`direct ${nowhere}`, `direct ${nowhere}`, 'work c', 'amq.topic d']],
    },
    {
      what: 'are all if the exchanges cannot be listed',
      bindings: keys,
      unread: true,
      questions: [['direct a', 'direct b', 'work c', 'amq.topic d']],
      tried: [['direct a', 'direct b', 'work c', 'amq.topic d']],
    },
    {
      what: 'are none if there is no topic exchange',
      bindings: keys.slice(0, 2),
      questions: [],
      tried: [[`direct ${nowhere}`, `direct ${nowhere}`]],
    },
  ])('$what', async ({ bindings, unread = false, questions, tried }) => {
    expect(await asked(discarding(bindings), { unread })).toEqual({ questions, tried, ends: [null, null] })
  })
})

describe('a permission for which the broker closes the connection', () => {
  const configure: LackedPermission = { right: 'configure', object: "queue 'upload'" }
  const bind: readonly LackedPermission[] = [
    { right: 'write', object: "queue 'upload'" },
    { right: 'read', object: "exchange 'work'" },
    { right: 'read', object: "topic 'c' in exchange 'work'", topicOf: 'work' },
  ]
  const at = '(RabbitMQ at mq.example.org:5672, vhost /)'
  const untold = (object: string): string =>
    `cannot tell whether user testops has the ${object} ${at}: ` +
    'the broker closes the connection instead of answering, perhaps because the name is very long'
  const grant = "rabbitmqctl set_permissions -p / testops '.*' '.*' '.*'   # on the broker"
  // this program does not read such a pattern
  const unreadable = '^(?!x)'
  test.each<{
    what: string
    permissions?: BrokerPermissions | null
    tags?: readonly string[]
    unanswered: readonly LackedPermission[]
    end: readonly string[] | null
  }>([
    {
      what: 'that the list grants is taken',
      permissions: { ...all, read: unreadable },
      unanswered: [configure],
      end: null,
    },
    {
      what: 'that the list denies is missing',
      permissions: { ...all, configure: '^other$', read: unreadable },
      unanswered: [configure],
      end: ['FORBIDDEN', `user testops has no configure permission on queue 'upload' ${at}`, grant],
    },
    {
      what: 'by a pattern that is not read refuses the repair',
      permissions: { ...all, configure: unreadable },
      unanswered: [configure],
      end: ['REFUSED', untold("configure permission on queue 'upload'"), grant],
    },
    {
      what: 'for a routing key, which no list has, refuses the repair',
      permissions: { ...all, configure: unreadable },
      unanswered: bind,
      end: [
        'REFUSED',
        untold("read permission on topic 'c' in exchange 'work'"),
        "rabbitmqctl set_topic_permissions -p / testops work '.*' '.*'   # on the broker",
      ],
    },
    {
      what: 'of a user who may not see the list refuses the repair',
      permissions: null,
      tags: ['monitoring'],
      unanswered: [configure],
      end: [
        'REFUSED',
        untold("configure permission on queue 'upload'"),
        'rabbitmqctl list_permissions -p /   # on the broker: shows what user testops may do',
        'rabbitmqctl set_user_tags testops monitoring administrator   # lets testops-admin read this list',
      ],
    },
    {
      what: 'of an administrator whom the list does not have refuses the repair',
      permissions: null,
      unanswered: [configure],
      end: ['REFUSED', untold("configure permission on queue 'upload'"), grant],
    },
  ])('$what', async ({ permissions = all, tags, unanswered, end }) => {
    const { ends } = await asked(discarding([to('work', 'c')]), {
      permissions,
      ...(tags && { tags }),
      answer: { lacked: null, unanswered },
    })
    expect(ends[1]).toEqual(end)
    // the list alone decides beforehand what it denies
    expect(ends[0]).toEqual(end)
  })
})
