import { once } from 'node:events'
import type { LogRecord, LogsSource } from '../../src/core/sources.ts'
import { fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** A complete log that holds nothing unusual, unless told otherwise. */
export function fakeLogs(answers: Answers<LogsSource> = {}): LogsSource {
  return fake<LogsSource>(
    {
      target: '/var/log/testops/testops.log',
      prints: null,
      // nothing is ever written to this log
      async *follow({ signal }) {
        if (!signal.aborted) await once(signal, 'abort')
      },
      parts: [],
      recent: { complete: true, records: [record('i.q.a.App : Started App in 21.3 seconds')] },
    },
    ['recent', 'parts'],
    answers,
  )
}

/** A record of this moment at level INFO, unless told otherwise. */
export function record(text: string, of: Partial<LogRecord> = {}): LogRecord {
  return { at: new Date(), level: 'INFO', text, ...of }
}
