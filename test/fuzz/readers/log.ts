import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scanDocument } from '../../../src/cli/scan/document.ts'
import { masked, endingIn } from '../../../src/domain/last-words.ts'
import { troubledCalls } from '../../../src/domain/integrations/calls.ts'
import { readAccessLog } from '../../../src/logs/access-log.ts'
import { splitRecords } from '../../../src/logs/records.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { scanChanges, scanText } from '../../../src/output/scan/text.ts'
import { filesBeforeAgent } from '../../../src/results/rules/files-before-agent.ts'
import { inputsIn, startScan } from '../../../src/runtime/scan/index.ts'
import { fakeLogs, fakeService } from '../../fakes/index.ts'
import { shown, shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'

const channelError =
  'channel error; protocol method: #method<channel.close>(reply-code=406, ' +
  "reply-text=PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'a' in vhost '/': " +
  "received 'true' but current is 'false', class-id=50, method-id=10)"
const unknownHost = 'java.net.UnknownHostException: jira.example.org: Name or service not known'
const spring = `2026-11-21 02:12:44.123  INFO 1 --- [main] l.lockservice : Waiting for changelog lock....
2026-11-21 02:12:45.123 ERROR 1 --- [nio-1] o.s.a.r.c : Channel shutdown: ${channelError}
2026-11-21T02:12:46.123+03:00 WARN 1 --- [main] c.e.A : ${unknownHost}
\tat java.base/java.net.X.y(X.java:1)
Caused by: java.lang.OutOfMemoryError: Java heap space
2026-11-21 02:12:47,123 DEBUG 1 --- [x] c.e.I : ---> GET https://jira.example.org/rest?token=abc HTTP/1.1
2026-11-21 02:12:47,223 DEBUG 1 --- [x] c.e.I : <--- HTTP/1.1 400 Bad Request (12ms)
2026-11-21 02:12:48.000  INFO 1 --- [main] c.e.B : password=abc indexed [3], errors [1], processed [0]
`
const json = [
  {
    '@timestamp': '2026-11-21T02:12:44.123Z',
    level: 'ERROR',
    logger_name: 'a.B',
    message: 'Could not acquire change log lock.  Currently locked by a (10.0.0.1) since 11/20/26, 11:00 PM',
    stack_trace: 'x\n\tat y',
  },
  { timestamp: 1_795_000_000_000, level: { name: 'WARN' }, message: 'java.net.UnknownHostException: a.b' },
]
  .map((it) => JSON.stringify(it))
  .join('\n')
const access =
  '10.0.0.1 - - [21/Nov/2026:02:12:44 +0000] "GET /api/x?y=1 HTTP/1.1" 502 12 "-" "curl/8" ' +
  'rt=1.0\n{"time":"2026-11-21T02:12:44Z","request":"GET / HTTP/1.1","status":200}\n'

/** A log: its scanner as stream and as file, its records, and what checks and rules read in it. */
export const log: Reader = {
  name: 'log',
  syntax: 'lines',
  seeds: [spring, json, access, spring + json],
  async open(folder) {
    const file = join(folder, 'service.log')
    const about = {
      timeZone: 'UTC',
      assumedFrom: null,
      typed: (command: string) => command,
      hide: (text: string) => masked(text, null),
    }
    let count = 0
    return {
      async read(input) {
        await writeFile(file, input)
        const text = input.toString('utf8')
        const part = {
          name: 'service.log',
          async *blocks() {
            yield input
          },
        }
        count += 1
        const parts =
          count % 8 === 0 ? (await inputsIn([file], { timeZone: 'UTC', input: nothing(), follow: null })).parts : [part]
        const run = startScan(parts, null, { timeZone: 'UTC', signal: new AbortController().signal, hide: about.hide })
        await run.ended
        const document = scanDocument(run.result(), about)
        shown(scanText(document, { screen: plainScreen, exitCode: 1 }))
        for (const line of scanChanges(document, null)) shown(line)
        shownAsJson(document)

        const records = splitRecords(text, 'Europe/Moscow')
        const calls = await troubledCalls(
          { logs: fakeLogs({ recent: { complete: true, records } }), service: fakeService() },
          () => true,
        )
        for (const { text: line } of calls.log.records.slice(0, 20)) calls.shown(line)
        endingIn(text, about.hide)
        readAccessLog(text)
        const { found } = await filesBeforeAgent(part, undefined)
        shownAsJson(found)
      },
    }
  },
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // there is no standard input
}
