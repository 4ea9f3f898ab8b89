import { describe, expect, test } from 'vitest'
import { isGranted, isListed, lackedPermission } from '../../../src/domain/queues/permissions.ts'

describe('isGranted', () => {
  test.each([
    ['.*', 'upload', true],
    ['', 'upload', false],
    ['^$', 'upload', false],
    ['load', 'upload', true],
    ['^load', 'upload', false],
    ['load$', 'upload', true],
    ['^up', 'upload', true],
    ['^upload$', 'upload.dlq', false],
    ['^(upload|out)$', 'out', true],
    ['^(upload|out)$', 'outer', false],
    ['^(?:upload|testops-admin\\..*)$', 'testops-admin.held.upload', true],
    ['^(?:upload|testops-admin\\..*)$', 'testops-administrator', false],
    ['^upload$|^out', 'outer', true],
    ['^upload$|^out', 'route', false],
    ['^up.oad$', 'up!oad', true],
    ['^upload.+$', 'upload', false],
    ['^upload.+$', 'uploads', true],
    ['^a(b|c)d(e|f)$', 'acdf', true],
    ['^a(b|c)d(e|f)$', 'acdg', false],
    ['^(a|)$', 'a', true],
    // not read: the broker alone can tell
    ['^[a-z]+$', 'upload', null],
    ['^(?!secret).*$', 'upload', null],
    ['^(a+)+$', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', null],
    ['\\w+', 'upload', null],
    ['up(load)?', 'upload', null],
    ['a{2}', 'aa', null],
    ['(upload', 'upload', null],
    ['upload)', 'upload', null],
    ['up^load', 'upload', null],
    ['up\\', 'upload', null],
    ['^upload$', 'upload\n', null],
    [`^${'(a|b)'.repeat(20)}$`, 'upload', null],
    ['x'.repeat(2001), 'upload', null],
  ])('%s: %s is permitted: %s', (pattern, name, wanted) => {
    expect(isGranted(pattern, name)).toBe(wanted)
  })
})

test.each([
  ["queue 'upload'", true],
  ["queue 'other'", false],
  ["exchange 'upload's'", true],
  ["topic 'upload' in exchange 'work'", null],
])('a list that grants names that begin with upload says of %s: %s', (object, wanted) => {
  const permissions = { configure: '^upload', write: '', read: '^(?!x)' }
  expect(isListed(permissions, { right: 'configure', object })).toBe(wanted)
  expect(isListed(permissions, { right: 'read', object })).toBeNull()
})

describe('lackedPermission', () => {
  const queue = { name: 'upload', durable: false, autoDelete: false, arguments: {} }
  const exchange = { name: 'work', type: 'topic', durable: true, autoDelete: false, internal: false, arguments: {} }
  const binding = {
    source: 'work',
    destination: 'upload',
    destinationKind: 'queue',
    routingKey: '',
    arguments: {},
  } as const
  const all = { configure: '.*', write: '.*', read: '.*' }
  const of = { queues: [queue], exchanges: [exchange], bindings: [binding] }

  test.each([
    [{}, null],
    [{ configure: '^work' }, { right: 'configure', object: "queue 'upload'" }],
    [{ configure: '^(upload|testops-admin)' }, { right: 'configure', object: "exchange 'work'" }],
    [{ write: '^(upload|testops-admin)' }, { right: 'write', object: "exchange 'amq.default'" }],
    [{ read: '^(upload|testops-admin)' }, { right: 'read', object: "exchange 'work'" }],
    [{ read: '^(upload|work)' }, { right: 'read', object: "queue 'testops-admin.held.upload'" }],
    [{ read: '[unknown]' }, 'unknown'],
    [
      { configure: '[unknown]', read: '^$' },
      { right: 'read', object: "queue 'upload'" },
    ],
  ])('with %j it is %j', (lesser, wanted) => {
    expect(lackedPermission({ ...all, ...lesser }, of, ['testops-admin.held.upload'])).toEqual(wanted)
  })

  test.each([
    [{ write: '^upload$' }, { right: 'write', object: "exchange 'unrouted'" }],
    [{ read: '^upload$' }, { right: 'read', object: "exchange 'work'" }],
    [{ write: '^unrouted$', read: '^work$' }, null],
  ])('with %j, an exchange with an alternate exchange lacks %j', (lesser, wanted) => {
    const passing = { ...exchange, arguments: { 'alternate-exchange': 'unrouted' } }
    const alone = { queues: [], exchanges: [passing], bindings: [] }
    expect(lackedPermission({ ...all, ...lesser }, alone, [])).toEqual(wanted)
  })

  test('a queue of dead letters needs more, and messages that are discarded need less', () => {
    const dead = { ...queue, arguments: { 'x-dead-letter-exchange': 'dead' } }
    const withoutMessages = { queues: [dead], exchanges: [], bindings: [], discards: true }
    expect(lackedPermission({ ...all, write: '^upload$' }, withoutMessages, [])).toEqual({
      right: 'write',
      object: "exchange 'dead'",
    })
    expect(lackedPermission({ ...all, write: '^dead$' }, withoutMessages, [])).toBeNull()
  })
})
