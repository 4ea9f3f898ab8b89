import { expect, test } from 'vitest'
import { refusal } from '../../src/adapters/rabbitmq/refusal.ts'

const endpoint = {
  host: '127.0.0.1',
  port: 5672,
  vhost: 'v',
  user: 'u',
  password: null,
  tls: { mode: 'disable', ca: null },
  managementUrl: null,
} as const

const onAll = ['rabbitmqctl list_permissions -p v', "rabbitmqctl set_permissions -p v u '.*' '.*' '.*'"]
const listed = 'rabbitmqctl list_topic_permissions -p v'
const onWork = [listed, "rabbitmqctl set_topic_permissions -p v u work '.*' '.*'"]

test.each<[string, string, string[]]>([
  ["access to queue 'x' in vhost 'v' refused for user 'u'", "queue 'x'", onAll],
  ["access to queue 'xx...", "queue 'xx...'", onAll],
  ["access to queue 'x' in vho...", "queue 'x'", onAll],
  ["access to queue 'x'...", "queue 'x'", onAll],
  [
    "access to topic 'a.b' in exchange 'work' in vhost 'v' refused for user 'u'",
    "topic 'a.b' in exchange 'work'",
    onWork,
  ],
  ["access to topic 'a.b' in exchange 'work' in vhost...", "topic 'a.b' in exchange 'work'", onWork],
  ["access to topic 'a.b' in exchange 'wor...", "topic 'a.b' in exchange 'wor...'", [listed]],
  ["access to topic 'a.b' in exch...", "topic 'a.b'", [listed]],
  ["access to topic 'a...", "topic 'a...'", [listed]],
])('%s', (text, object, suggestions) => {
  for (const [before, right] of [
    ['', 'sufficient'],
    ['read ', 'read'],
  ] as const) {
    const error = refusal({ code: 403, text: `${before}${text}` }, endpoint, 'trying it')
    expect([error.code, error.message, error.suggestions]).toEqual([
      'FORBIDDEN',
      `user u has no ${right} permission on ${object} in vhost v of RabbitMQ at 127.0.0.1:5672 (trying it)`,
      suggestions,
    ])
  }
})
