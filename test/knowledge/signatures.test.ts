import { describe, expect, it } from 'vitest'
import { checks } from '../../src/checks/index.ts'
import { argumentConflicts } from '../../src/knowledge/log-signatures.ts'
import { agentCounts, isFilesBeforeAgent, patternOf, signatures } from '../../src/knowledge/signatures.ts'
import type { SignatureId } from '../../src/knowledge/signatures.ts'

/** Lines as SPEC.md 7, FIELD-NOTES.md and the libraries have them, and the signatures that are in them. */
const lines: readonly (readonly [string, readonly SignatureId[]])[] = [
  ['Caused by: java.net.UnknownHostException: jira.example.org: Name or service not known', ['unknown-host']],
  ['<-- HTTP FAILED: java.net.UnknownHostException: jira.example.org', ['unknown-host', 'http-failed']],
  ["Integration 'x' answered 400 Bad Request to GET https://jira.example.org", ['bad-request']],
  ['400 bad request', ['bad-request']],
  ['Waiting for changelog lock....', ['lock-waiting']],
  ['Waiting for changelog lock...', ['lock-waiting']],
  [
    'liquibase.exception.LockException: Could not acquire change log lock.  Currently locked by vm (fd00::2) ' +
      'since 11/21/26, 2:12 AM',
    ['lock-refused'],
  ],
  ['Successfully acquired change log lock', ['lock-taken']],
  ['Successfully released change log lock', ['lock-released']],
  ['INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.', ['transient-refused']],
  [
    "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q1' in vhost '/': received 'true' but current " +
      "is 'false'",
    ['precondition-failed'],
  ],
  ['Fatal glibc error: CPU does not support x86-64-v3', ['cpu-level']],
  ['Request failed with status code 401. The expected CSRF token could not be found', ['csrf']],
  ['Request failed with status code 409', ['conflict']],
  ['404 Bad credentials', ['token-refused']],
  ['java.lang.OutOfMemoryError: Java heap space', ['out-of-memory']],
  [
    'HikariPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, ' +
      'waiting=5)',
    ['pool-exhausted'],
  ],
  ["We weren't able to index files during [5m]: found [17], indexed [0]", ['agent-nothing-indexed']],
  ['All files have been processed: indexed [0], processed [0]', ['agent-counts', 'agent-nothing-indexed']],
  ['All files have been processed: indexed [10], processed [10]', ['agent-counts']],
  ['processed [0], errors [3], indexed [3]', ['agent-counts']],
  ['indexed [3], processed', []],
]

describe('the table of signatures', () => {
  it.each(lines)('%s', (line, ids) => {
    expect(signatures.filter(({ pattern }) => pattern.test(line)).map(({ id }) => id)).toEqual(ids)
  })

  it('has a line above for each, once', () => {
    const ids = signatures.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !lines.some(([, found]) => found.includes(id)))).toEqual([])
    expect(patternOf('conflict').ignoreCase).toBe(true)
  })

  it('names checks that there are, and commands of this program', () => {
    const known = new Set(checks.map(({ id }) => id))
    // its check is still to come
    known.add('integrations/answers')
    expect(signatures.flatMap(({ check }) => check ?? []).filter((id) => !known.has(id))).toEqual([])
    expect(
      signatures.flatMap(({ remedy }) => remedy ?? []).filter((command) => !command.startsWith('testops-admin ')),
    ).toEqual([])
  })
})

describe('what a line tells', () => {
  it.each([
    ['indexed [3], processed [0], errors [3]', { indexed: 3, processed: 0, errors: 3 }, true],
    ['errors [1], processed [0], indexed [2]', { indexed: 2, processed: 0, errors: 1 }, true],
    ['indexed [3], processed [0]', { indexed: 3, processed: 0, errors: null }, false],
    ['indexed [3], processed [3], errors [1]', { indexed: 3, processed: 3, errors: 1 }, false],
    ['indexed [0], processed [0], errors [1]', { indexed: 0, processed: 0, errors: 1 }, false],
  ])('%s', (line, counts, isBefore) => {
    expect(agentCounts(line)).toEqual(counts)
    expect(isFilesBeforeAgent(counts)).toBe(isBefore)
  })

  it('is which argument of what is not as asked for', () => {
    const text =
      "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q' in vhost '/a': received the value " +
      "'quorum' of type 'longstr' but current is none, class-id=50\n" +
      "PRECONDITION_FAILED - inequivalent arg 'auto_delete' for exchange 'e' in vhost '/': received 'true' but " +
      "current is 'false'"
    expect(argumentConflicts(text)).toEqual([
      {
        kind: 'queue',
        name: 'q',
        vhost: '/a',
        argument: 'x-queue-type',
        wanted: "the value 'quorum' of type 'longstr'",
        current: 'none',
      },
      { kind: 'exchange', name: 'e', vhost: '/', argument: 'auto_delete', wanted: "'true'", current: "'false'" },
    ])
  })
})
