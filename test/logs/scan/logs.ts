import fc from 'fast-check'
import { sought } from '../../../src/logs/scan/needles.ts'

/** What makes a difference to a scanner: signatures, parts of them, ends of lines, bytes that are no text. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...sought.map(({ text }) => text)) },
  fc.constantFrom(
    'java.net.UnknownHostException: jira.example.org: Name or service not known',
    'java.net.UnknownHostException: Git.example.org.',
    '400 BAD Request',
    'indexed [3], errors [1], processed [0]',
    'processed [0], indexed [17]',
    'indexed [0], processed [0]',
    'indexed [1 processed [2]',
    "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'a' in vhost '/': received 'true' but current " +
      "is 'false'",
  ),
  fc.constantFrom(
    'Waiting for changelog lock..',
    'java.net.UnknownHost',
    'HTTP\nFAILED',
    '\r',
    '\0',
    'Ж',
    '\x80',
    '\xd0',
    ' ',
    'x'.repeat(300),
  ),
  fc.string({ unit: 'binary-ascii', maxLength: 30 }),
)

const date = fc.tuple(fc.integer({ min: 0, max: 3_000_000 }), fc.boolean()).map(([seconds, isNewer]) => {
  const iso = new Date(Date.UTC(2026, 10, 1) + seconds * 997).toISOString()
  return isNewer ? iso.replace('Z', '+00:00') : iso.slice(0, 23).replace('T', ' ')
})

const message = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(' '))
const more = fc
  .tuple(fc.constantFrom('\n', '\n\tat ', '\r\n', '\nCaused by: ', '\n\n'), message)
  .map((parts) => parts.join(''))

/** A log of records with dates, as bytes. */
export const anyLog = fc
  .tuple(
    fc.array(fc.tuple(date, message, fc.array(more, { maxLength: 4 })), { minLength: 1, maxLength: 30 }),
    fc.constantFrom('', '\n', '\r\n'),
  )
  .map(([records, end]) => {
    const text =
      records.map(([at, first, others]) => `${at}  INFO 1 --- [main] a.B : ${first}${others.join('')}`).join('\n') + end
    return Buffer.from(
      [...text]
        .map((it) => (it.charCodeAt(0) < 256 ? Buffer.from(it, 'latin1') : Buffer.from(it)))
        .reduce((all, it) => Buffer.concat([all, it]), Buffer.alloc(0)),
    )
  })

/** How a stream may be cut. */
export const anySizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 3000 })), {
  minLength: 1,
  maxLength: 20,
})
