import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withoutSecrets } from '../../../src/core/redaction/index.ts'
import { explainEntries } from '../../../src/knowledge/explain/index.ts'
import { crashReasons, crashReasonsInError, logSignatures } from '../../../src/knowledge/log-signatures.ts'
import { signatures } from '../../../src/knowledge/signatures.ts'
import { commands } from '../../../src/commands/index.ts'
import { readableLines, secretLines } from './lines.ts'

test('there are enough of them', () => {
  expect(readableLines.length).toBeGreaterThanOrEqual(60)
  expect(secretLines.length).toBeGreaterThanOrEqual(85)
})

test.each(readableLines.map((line) => [line]))('left as it is: %s', (line) => {
  expect(withoutSecrets(line)).toBe(line)
  const record = JSON.stringify({ message: line, level: 'INFO' })
  expect(withoutSecrets(record)).toBe(record)
  expect(withoutSecrets(record.replaceAll(' ', '  '))).toBe(record.replaceAll(' ', '  '))
})

/** What the patterns of this program match. */
const matched: readonly string[] = [
  'Caused by: java.net.UnknownHostException: jira.example.org: Name or service not known',
  '<-- HTTP FAILED: java.net.UnknownHostException: jira.example.org',
  "Integration 'x' answered 400 Bad Request to GET https://jira.example.org",
  'liquibase.exception.LockException: Could not acquire change log lock.  Currently locked by vm (fd00::2) ' +
    'since 11/21/26, 2:12 AM',
  'Successfully acquired change log lock',
  'Successfully released change log lock',
  'INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.',
  "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q1' in vhost '/': " +
    "received 'true' but current is 'false'",
  'Fatal glibc error: CPU does not support x86-64-v3',
  'Request failed with status code 401. The expected CSRF token could not be found',
  'Request failed with status code 409',
  '404 Bad credentials',
  'java.lang.OutOfMemoryError: Java heap space',
  'HikariPool-1 - Connection is not available, request timed out after 30000ms ' +
    '(total=10, active=10, idle=0, waiting=5)',
  "We weren't able to index files during [5m]: found [17], indexed [0]",
  'All files have been processed: indexed [10], processed [0], errors [10]',
  'Waiting for changelog lock....',
  'FATAL: password authentication failed for user "testops"',
  'ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.',
  'WRONGPASS invalid username-password pair or user is disabled.',
  'NOAUTH Authentication required.',
  'Connection to db.example.org:5432 refused. Check that the hostname and port are correct',
  'Web server failed to start. Port 8080 was already in use.',
]

describe('what a signature is matched by', () => {
  const patterns = [
    ...signatures.map(({ pattern }) => pattern),
    ...Object.values(logSignatures),
    ...[...crashReasons, ...crashReasonsInError].map(({ sign }) => sign),
  ]

  test.each(matched.map((line) => [line]))('stays: %s', (line) => {
    expect(withoutSecrets(line)).toBe(line)
    // beside a secret, whatever that is
    for (const secret of secretLines.filter((it) => !it.includes('BEGIN'))) {
      for (const text of [`${line} ${secret}`, `${secret} ${line}`, `${line}; ${secret}; ${line}`]) {
        const clean = withoutSecrets(text)
        for (const pattern of patterns) if (pattern.test(text)) expect(clean).toMatch(pattern)
      }
    }
  })

  test('has a line above for each', () => {
    expect(patterns.filter((pattern) => !matched.some((line) => pattern.test(line)))).toEqual([])
  })
})

describe('what this program says itself', () => {
  const folder = new URL('../../output/golden/', import.meta.url)
  const translated = new URL('../../../dist/', import.meta.url)

  test.each(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.\w+$/.test(name) && !name.includes('hostile'))
      .map((name) => [name]),
  )('%s', (name) => {
    const text = readFileSync(new URL(name, folder), 'utf8')
    expect(withoutSecrets(text)).toBe(text)
  })

  test.each(explainEntries.map((entry) => [entry.id, entry] as const))('explain %s', (_, entry) => {
    for (const text of textsIn(entry)) expect(withoutSecrets(text)).toBe(text)
  })

  test.each(readdirSync(translated).filter((name) => /^texts\.\w+\.json$/.test(name)))('%s', (name) => {
    const texts = textsIn(JSON.parse(readFileSync(new URL(name, translated), 'utf8')))
    expect(texts.length).toBeGreaterThan(500)
    for (const text of texts) expect(withoutSecrets(text)).toBe(text)
  })

  test.each(Object.keys(commands).map((id) => [id]))('help of %s', async (id) => {
    const { default: command } = await commands[id]!()
    for (const text of textsIn([command.summary, command.description, command.examples, command.flags]))
      expect(withoutSecrets(text)).toBe(text)
  })
})

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
