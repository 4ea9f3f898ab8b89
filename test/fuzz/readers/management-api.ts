import { managementLists } from '../../../src/adapters/rabbitmq/two-ways.ts'
import { managementApi } from '../../../src/adapters/rabbitmq/management.ts'
import { Secret } from '../../../src/core/secret.ts'
import { shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'
import { answeringServer } from './http-answer.ts'
import { refusable } from './refusable.ts'

const queue = {
  name: 'upload',
  vhost: '/',
  durable: true,
  auto_delete: false,
  exclusive: false,
  type: 'quorum',
  arguments: { 'x-max-priority': 5 },
  messages: 3,
  consumers: 1,
  policy: 'ha',
}
const connection = { name: '10.0.0.1:1 -> 10.0.0.2:5672', user: 'u', user_provided_name: 'svc', vhost: '/' }

/** What RabbitMQ's management API answers. */
export const managementAnswers: Reader = {
  name: 'management API',
  syntax: 'json',
  seeds: [
    { items: [queue], page: 1, page_count: 1, page_size: 500, total_count: 1 },
    { items: [connection], page_count: 2 },
    [queue, connection],
    [
      {
        queue: { name: 'upload', vhost: '/' },
        consumer_tag: 't',
        channel_details: { name: 'c', connection_name: connection.name, user: 'u', peer_host: 'h' },
        active: true,
      },
    ],
    [
      {
        source: 'events',
        destination: 'upload',
        destination_type: 'queue',
        routing_key: 'k',
        arguments: {},
        vhost: '/',
      },
    ],
    [{ name: 'p', vhost: '/', pattern: '.*', 'apply-to': 'queues', definition: { 'max-length': 5 }, priority: 0 }],
    [
      {
        name: 'rabbit@a',
        running: true,
        mem_alarm: false,
        disk_free_alarm: false,
        mem_used: 1,
        mem_limit: 2,
        disk_free: 3,
        disk_free_limit: 1,
        applications: [],
      },
    ],
    { name: 'u', tags: ['monitoring'] },
    [{ user: 'u', vhost: '/', configure: '', write: '^(upload|out)$', read: '.*' }],
    [{ name: 'transient_nonexcl_queues', state: 'permitted', deprecation_phase: 'permitted_by_default' }],
    { status: 'failed', reason: 'alarms', alarms: [{ node: 'rabbit@a', resource: 'memory' }] },
    { error: 'bad_request', reason: 'Stats in management UI are disabled' },
  ].map((it) => JSON.stringify(it)),
  async open() {
    const server = await answeringServer((request, response) => {
      // without a tag no other list is asked for
      if (request.url !== '/api/whoami') return false
      response.setHeader('content-type', 'application/json').end('{"name":"u","tags":["administrator"]}')
      return true
    })
    const management = managementApi(
      {
        host: '127.0.0.1',
        port: 5672,
        vhost: '/',
        user: 'u',
        password: new Secret('pw-of-the-broker'),
        tls: { mode: 'disable', ca: null },
        managementUrl: server.url,
      },
      300,
    )
    const lists = managementLists(management, { vhost: '/', user: 'u' })
    const asks: readonly (() => Promise<unknown>)[] = [
      lists.queues,
      lists.exchanges,
      lists.consumers,
      lists.bindings,
      lists.policies,
      lists.connections,
      async () => lists.connectionsOf('u'),
      async () => lists.deprecatedFeature('transient_nonexcl_queues'),
      lists.nodes,
      lists.permissions,
      async () => management.alarms(),
    ]
    let count = 0
    return {
      async read(input) {
        server.answer(input)
        count += 1
        // two of them for each, in turn: what refuses one kind of answer refuses it for all
        for (const ask of [asks[count % asks.length]!, asks[(count * 3) % asks.length]!])
          await refusable(async () => shownAsJson((await ask()) ?? null))
      },
      async close() {
        await management.close()
        await server.close()
      },
    }
  },
}
