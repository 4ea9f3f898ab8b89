import { describe, expect, test } from 'vitest'
import { answerOf, bounded, errorAnswer, mostOfDocument, mostOfText } from '../../../src/cli/mcp/answer.ts'
import { withoutPlacesOfSecrets } from '../../../src/cli/mcp/answer.ts'
import { typed } from '../../../src/core/typed.ts'

const size = (document: object): number => JSON.stringify(document).length
const less = 'Ask for less.'

describe('a document', () => {
  test('that is small stays whole', () => {
    const document = { schemaVersion: 1, checks: [{ id: 'a', status: 'ok' }], none: null, flag: false }
    expect(bounded(document)).toEqual({ document, leftOut: [] })
  })

  test('that is large loses checks that are ok first, and keeps its order', () => {
    const checks = Array.from({ length: 600 }, (_, at) => ({
      id: `check-${at}`,
      status: at % 60 === 59 ? 'problem' : 'ok',
      detail: 'x'.repeat(100),
    }))
    const { document, leftOut } = bounded({ checks })
    const kept = document['checks'] as typeof checks
    expect(size(document)).toBeLessThanOrEqual(mostOfDocument)
    expect(kept.filter(({ status }) => status === 'problem').map(({ id }) => id)).toEqual(
      checks.filter(({ status }) => status === 'problem').map(({ id }) => id),
    )
    expect(leftOut).toEqual(['`checks` has 200 of 600 entries'])
  })

  test('says how much each list and text lost, those within lists added up', () => {
    const files = Array.from({ length: 3 }, () => ({ lines: Array.from({ length: 900 }, () => 'y'.repeat(30)) }))
    const { document, leftOut } = bounded({ files, note: 'z'.repeat(50_000) })
    expect(size(document)).toBeLessThanOrEqual(mostOfDocument)
    expect(leftOut).toEqual(['`files.lines` has 600 of 2,700 entries', '1 long text cut short'])
    expect(document['note']).toBe(`${'z'.repeat(2000)}… (48,000 more characters)`)
  })

  test.each([
    ['one huge text', { text: 'x'.repeat(5_000_000) }],
    ['one huge object', Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`key-${at}`, 'x'.repeat(90)]))],
    ['names that are huge', { ['k'.repeat(100_000)]: 1 }],
    ['lists in lists', { a: Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => ['x'.repeat(500)])) }],
    [
      'many properties, each of many',
      Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => [
          at,
          Object.fromEntries(Array.from({ length: 60 }, (__, it) => [it, 'xyz'])),
        ]),
      ),
    ],
  ])('of %s is bounded too', (_, document) => {
    const { document: shown, leftOut } = bounded(document, 4000)
    expect(size(shown)).toBeLessThanOrEqual(4000)
    expect(leftOut.length).toBeGreaterThan(0)
  })

  test('shows characters that hide, in names too', () => {
    const { document } = bounded({ 'a\u202eb': 'one\u200btwo\u001b[2J\nthree' })
    expect(document).toEqual({ 'a\\u202eb': 'one\\u200btwo\\x1b[2J\nthree' })
  })
})

describe('an answer', () => {
  test('holds the text, the command and the document, and no secret', () => {
    const url = 'amqp://me:hunter2secret@mq.example.org/'
    const answer = answerOf({
      document: { schemaVersion: 1, url, password: 'hunter2secret' },
      exitCode: 1,
      command: 'testops-admin doctor -d prod',
      text: (it) => `Broken: ${(it as { url: string }).url}\n`,
      less,
    })
    expect(answer).toMatchInlineSnapshot(`
      {
        "content": [
          {
            "text": "Broken: amqp://[secret]@mq.example.org/

      Command: testops-admin doctor -d prod",
            "type": "text",
          },
        ],
        "structuredContent": {
          "command": "testops-admin doctor -d prod",
          "document": {
            "password": "[secret]",
            "schemaVersion": 1,
            "url": "amqp://[secret]@mq.example.org/",
          },
          "exitCode": 1,
        },
      }
    `)
    expect(JSON.stringify(answer)).not.toContain('hunter2secret')
  })

  test('leaves out a command that nobody would type, and says so', () => {
    const answer = answerOf({
      document: {},
      exitCode: 0,
      command: typed(['testops-admin', 'set-env', 'x'.repeat(50_000)]),
      text: () => 'A plan.',
      less,
    })
    expect(answer.content[0].text).toMatch(
      /^A plan\.\n\nLeft out: the command has 50,0\d\d characters\. Ask for less\.$/,
    )
    expect(answer.structuredContent).not.toHaveProperty('command')
    expect(JSON.stringify(answer).length).toBeLessThan(1000)
  })

  test('says what its text lacks, and how to get it', () => {
    const answer = answerOf({
      document: {},
      exitCode: 0,
      command: 'testops-admin explain',
      text: () => 'x'.repeat(mostOfText + 5),
      less,
    })
    expect(answer.content[0].text.slice(mostOfText)).toBe(
      '\n\nLeft out: the text has 12,000 of 12,005 characters. Ask for less.\n\nCommand: testops-admin explain',
    )
    expect(answer.structuredContent).toMatchObject({ leftOut: ['the text has 12,000 of 12,005 characters'], less })
  })

  test('of an error is its code, what happened and what to do next', () => {
    const error = { code: 'UNREACHABLE' as const, message: 'db:1 refused', suggestions: ['testops-admin doctor'] }
    expect(errorAnswer({ error })).toEqual({
      content: [{ type: 'text', text: 'Error: db:1 refused\n\nTry:\n  testops-admin doctor\n\nCode: UNREACHABLE' }],
      structuredContent: { error },
      isError: true,
    })
  })
})

describe('the place of a secret', () => {
  const place = 'the file /run/secrets/db does not exist'
  const error = {
    code: 'SECRET_MISSING' as const,
    message: `the secret at database.password is missing: ${place}`,
    suggestions: ['ls -l /run/secrets/db'],
  }

  test('is in no error', () => {
    const answer = errorAnswer({ error })
    expect(answer.structuredContent).toEqual({
      error: {
        code: 'SECRET_MISSING',
        message: 'the secret at database.password is missing',
        suggestions: ['testops-admin doctor   # shows on a terminal what is missing'],
      },
    })
    expect(JSON.stringify(answer)).not.toContain('/run/secrets')
  })

  test('is in no other part of a document that repeats it', () => {
    const shown = withoutPlacesOfSecrets({ checks: [{ error }, { detail: `no: ${place}` }], next: error.suggestions })
    expect(JSON.stringify(shown)).not.toContain('/run/secrets')
    expect(shown.checks[1]).toEqual({ detail: 'no: [secret]' })
  })

  test('leaves a document alone that names none', () => {
    const document = { checks: [{ error: { ...error, code: 'UNREACHABLE' } }] }
    expect(withoutPlacesOfSecrets(document)).toBe(document)
  })
})
