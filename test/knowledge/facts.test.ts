import { describe, expect, it } from 'vitest'
import { deniesTransientQueues, isBuiltIn } from '../../src/knowledge/broker.ts'
import { cpuLevel, isVirtual, missingFlags, parseCpuinfo } from '../../src/knowledge/processors.ts'
import { isLockStatement, parseLockedBy } from '../../src/knowledge/lock.ts'
import { declaredQueues, durableConflicts, logSignatures, unknownHosts } from '../../src/knowledge/log-signatures.ts'
import { defaultVendor, parseBoolean, settingNames, vendorIn } from '../../src/knowledge/settings.ts'
import { v3Flags } from '../fakes/index.ts'

describe('settings', () => {
  it('are named after the vendor', () => {
    expect(settingNames(defaultVendor)).toEqual({
      rabbitDurable: 'VENDOR_RABBIT_DURABLE',
      tokenValiditySeconds: 'VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS',
      redisNamespace: 'VENDOR_REDIS_NAMESPACE',
      redisSessionTtl: 'VENDOR_REDIS_SESSIONTTL',
      endpoint: 'VENDOR_ENDPOINT',
      integrationLogLevel: 'LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION',
    })
    expect(settingNames({ prefix: 'ALLURE', package: 'io.qameta.allure' })).toMatchObject({
      rabbitDurable: 'ALLURE_RABBIT_DURABLE',
      integrationLogLevel: 'LOGGING_LEVEL_IO_QAMETA_ALLURE_INTEGRATION',
    })
  })

  it.each([
    [[], { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' }],
    [['PATH', 'SPRING_RABBITMQ_HOST'], { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' }],
    [
      ['ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS', 'LOGGING_LEVEL_IO_QAMETA_ALLURE_INTEGRATION'],
      { prefix: 'ALLURE', package: 'IO_QAMETA_ALLURE' },
    ],
    [
      ['OTHER_REDIS_NAMESPACE', 'ALLURE_REDIS_SESSIONTTL', 'ALLURE_RABBIT_DURABLE'],
      { prefix: 'ALLURE', package: 'VENDOR_PACKAGE' },
    ],
    [
      ['SPRING_SESSION_REDIS_NAMESPACE', 'LOGGING_LEVEL_ORG_SPRINGFRAMEWORK'],
      { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
    ],
    [['LOGGING_LEVEL_IO_QAMETA_ALLURE_REPORT_ISSUE_LISTENER'], { prefix: 'VENDOR', package: 'IO_QAMETA_ALLURE' }],
    [
      ['OTHER_RABBIT_DURABLE', 'OTHER_REDIS_NAMESPACE', 'VENDOR_RABBIT_DURABLE'],
      { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
    ],
  ])('%j', (names, vendor) => {
    expect(vendorIn(names)).toEqual(vendor)
  })

  it.each([
    ['true', true],
    [' TRUE ', true],
    ['yes', true],
    ['1', true],
    ['false', false],
    ['off', false],
    ['', null],
    ['maybe', null],
  ])('%j as a boolean', (text, value) => {
    expect(parseBoolean(text)).toBe(value)
  })
})

describe('processors', () => {
  const without = (...flags: string[]): string[] => v3Flags.filter((flag) => !flags.includes(flag))

  it.each([
    [[v3Flags], 'x86-64-v3', []],
    [[[...v3Flags, 'avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl']], 'x86-64-v4', []],
    [[without('abm', 'movbe')], 'x86-64-v2', ['abm', 'movbe']],
    [[v3Flags, without('fma')], 'x86-64-v2', ['fma']],
    [[without('popcnt', 'avx')], 'x86-64', ['popcnt', 'avx']],
    [[without('sse2')], null, ['sse2']],
    [[], null, []],
  ] as const)('%#', (processors, level, missing) => {
    expect(cpuLevel(processors)).toBe(level)
    expect(missingFlags(processors, 'x86-64-v3')).toEqual(missing)
  })

  it('are read from a cpuinfo file, equal ones once', () => {
    const text = [
      'processor\t: 0',
      'flags\t\t: fpu sse hypervisor',
      'vmx flags\t: vnmi',
      '',
      'processor\t: 1',
      'flags\t\t: fpu sse hypervisor',
      '',
      'flags : fpu',
      '',
    ].join('\n')
    expect(parseCpuinfo(text)).toEqual([['fpu', 'sse', 'hypervisor'], ['fpu']])
    expect(isVirtual(parseCpuinfo(text))).toBe(true)
    expect(parseCpuinfo('Features\t: fp asimd')).toEqual([])
    expect(parseCpuinfo('')).toEqual([])
  })
})

describe('the change-log lock', () => {
  it.each([
    [
      'gocd-app-server-64c8f9fc7f-8dhxj (10.42.0.191)',
      { host: 'gocd-app-server-64c8f9fc7f-8dhxj', description: null, address: '10.42.0.191' },
    ],
    ['1a79b513f312 (172.26.0.10)', { host: '1a79b513f312', description: null, address: '172.26.0.10' }],
    ['vm (fd00:0:0:0:0:0:0:2%eth0)', { host: 'vm', description: null, address: 'fd00:0:0:0:0:0:0:2%eth0' }],
    ['vm#nightly job (127.0.0.1)', { host: 'vm', description: 'nightly job', address: '127.0.0.1' }],
    ['unknown', { host: 'unknown', description: null, address: null }],
    ['localhost(127.0.0.1)', { host: 'localhost', description: null, address: '127.0.0.1' }],
    ['', { host: '', description: null, address: null }],
  ])('%j', (text, holder) => {
    expect(parseLockedBy(text)).toEqual(holder)
  })

  it('is asked for by statements on its table', () => {
    expect(isLockStatement('SELECT LOCKED FROM public.databasechangeloglock WHERE ID=1')).toBe(true)
    expect(isLockStatement('UPDATE DATABASECHANGELOGLOCK SET LOCKED = TRUE')).toBe(true)
    expect(isLockStatement('SELECT * FROM databasechangelog')).toBe(false)
  })
})

describe('the broker', () => {
  it.each([
    ['3.13.7', false],
    ['4.2.9', false],
    ['4.3.0', true],
    ['4.10.0', true],
    ['5.0.0-rc.1', true],
    ['unknown', null],
  ])('%s refuses transient queues: %s', (version, denies) => {
    expect(deniesTransientQueues(version)).toBe(denies)
  })

  it('names some queues itself', () => {
    expect(['', 'amq.gen-x', 'amqp'].map(isBuiltIn)).toEqual([true, true, false])
  })
})

describe('log signatures', () => {
  it.each([
    ['Waiting for changelog lock....', 'lockWaiting'],
    ['Waiting for changelog lock...', 'lockWaiting'],
    ['Could not acquire change log lock.  Currently locked by vm (fd00::2) since 11/21/26, 2:12 AM', 'lockRefused'],
    ['Fatal glibc error: CPU does not support x86-64-v3', 'cpuLevel'],
    ['INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.', 'transientRefused'],
    ['Caused by: java.net.UnknownHostException: jira', 'unknownHost'],
  ] as const)('%s', (text, name) => {
    const matching = Object.entries(logSignatures).filter(([, pattern]) => pattern.test(text))
    expect(matching.map(([it]) => it)).toEqual([name])
  })

  it.each([
    ['java.net.UnknownHostException: jira.example.org', ['jira.example.org']],
    [
      'x java.net.UnknownHostException: Jira.example.org: Name or service not known\nCaused by: ' +
        'java.net.UnknownHostException: jira.example.org.',
      ['jira.example.org'],
    ],
    ['java.net.UnknownHostException: a\njava.net.UnknownHostException: b-c.d', ['a', 'b-c.d']],
    [
      'java.net.UnknownHostException: fd00::2: Name or service not known\nCaused by: ' +
        'java.net.UnknownHostException: fe80::1%eth0',
      ['fd00::2', 'fe80::1%eth0'],
    ],
    [
      'java.net.UnknownHostException: [2001:DB8::2]: invalid IPv6 address\njava.net.UnknownHostException: ' +
        '2001:db8:0:0:0:0:0:3: no',
      ['2001:db8::2', '2001:db8:0:0:0:0:0:3'],
    ],
    [
      'java.net.UnknownHostException: ::ffff:10.0.0.1: no\njava.net.UnknownHostException: ' +
        'fd00::\njava.net.UnknownHostException: cafe:5432: no',
      ['::ffff:10.0.0.1', 'fd00::', 'cafe'],
    ],
    ['java.net.UnknownHostException: : Name or service not known', []],
    ['java.net.UnknownHostException\n\tat x', []],
    ['UnknownHostException: no', []],
  ])('%j', (text, hosts) => {
    expect(unknownHosts(text)).toEqual(hosts)
  })

  it('names queues and exchanges that are not as asked for', () => {
    const text =
      "reply-text=PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'a b' in vhost '/x': received " +
      "'true' but current is 'false', class-id=50\n" +
      "PRECONDITION_FAILED - inequivalent arg 'durable' for exchange 'e' in vhost '/': received 'false' but " +
      "current is 'true'\n" +
      "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q' in vhost '/': received 'quorum' but " +
      "current is 'classic'"
    expect(durableConflicts(text)).toEqual([
      { kind: 'queue', name: 'a b', vhost: '/x', wanted: true, current: false },
      { kind: 'exchange', name: 'e', vhost: '/', wanted: false, current: true },
    ])
    expect(durableConflicts(text)).toHaveLength(2)
  })

  it('names queues that are declared', () => {
    const text =
      'Auto-declaring a non-durable, auto-delete, or exclusive Queue (upload) durable:false, ' +
      'auto-delete:false, exclusive:false. It will be redeclared\n' +
      'Auto-declaring a non-durable, auto-delete, or exclusive Queue (reply) durable:true, auto-delete:true, ' +
      'exclusive:true.\n' +
      'Auto-declaring a non-durable, auto-delete, or exclusive Queue (short) durable:false'
    expect(declaredQueues(text)).toEqual([
      { name: 'upload', durable: false, autoDelete: false, exclusive: false },
      { name: 'reply', durable: true, autoDelete: true, exclusive: true },
      { name: 'short', durable: false, autoDelete: null, exclusive: null },
    ])
  })
})
