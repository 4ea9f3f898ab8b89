// Writes a directory like those of adapters: results of about 4 KB each, some of them failed, and every twentieth with
// an attachment.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const perResult = 4000
const browsers = ['chromium', 'firefox', 'webkit']

/** Writes `count` results without faults, each of a different test. */
export function writeResults(folder, count) {
  for (let index = 0; index < count; index += 1) {
    const result = resultOf(index)
    const [attachment] = result.attachments
    if (attachment) writeFileSync(join(folder, attachment.source), `what the page logged\n`.repeat(100))
    writeFileSync(join(folder, `${result.uuid}-result.json`), JSON.stringify(result))
  }
}

/** Writes tiny results that differ, which take the most memory for their bytes. */
export function writeTinyResults(folder, count) {
  for (let index = 0; index < count; index += 1) {
    const uuid = idOf(index)
    writeFileSync(
      join(folder, `${uuid}-result.json`),
      `{"uuid":"${uuid}","fullName":"org.example.Test#number${index}","name":"number ${index}","status":"passed"}`,
    )
  }
}

function idOf(index) {
  const hash = createHash('md5').update(String(index)).digest('hex')
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20)].join('-')
}

function resultOf(index) {
  const uuid = idOf(index)
  const start = 1_795_000_000_000 + index * 10
  const isFailed = index % 50 === 0
  const fullName = `org.example.shop.part${index % 100}.Order${index % 1000}Test#placesOrder${index}`
  const result = {
    uuid,
    historyId: createHash('md5').update(`${fullName}:${uuid}`).digest('hex'),
    testCaseId: createHash('md5').update(fullName).digest('hex'),
    fullName,
    name: `places order ${index} and pays for it`,
    status: isFailed ? 'failed' : 'passed',
    statusDetails: isFailed ? { message: 'expected: <1> but was: <2>', trace: traceOf(index) } : {},
    stage: 'finished',
    steps: [],
    attachments:
      index % 20 === 0 ? [{ name: 'log of the page', source: `${uuid}-attachment.txt`, type: 'text/plain' }] : [],
    parameters: [
      { name: 'browser', value: browsers[index % 3] },
      { name: 'items', value: String(index % 7) },
    ],
    labels: Object.entries({
      AS_ID: String(index + 1),
      parentSuite: 'shop',
      suite: `Order${index % 1000}Test`,
      package: `org.example.shop.part${index % 100}`,
      framework: 'junit-platform',
      language: 'java',
      severity: 'normal',
      thread: 'main',
    }).map(([name, value]) => ({ name, value })),
    links: [{ name: `SHOP-${index}`, url: `https://issues.example.org/browse/SHOP-${index}`, type: 'issue' }],
    start,
    stop: start + 900,
  }
  let bytes = JSON.stringify(result).length
  for (let step = 0; bytes < perResult - 200; step += 1) {
    const next = stepOf(step, start, step % 4 === 0 ? [stepOf(0, start, [])] : [])
    bytes += JSON.stringify(next).length + 1
    result.steps.push(next)
  }
  return result
}

function stepOf(number, start, steps) {
  return {
    name: `opens page ${number} of the shop and looks at what is on it`,
    status: 'passed',
    statusDetails: {},
    stage: 'finished',
    steps,
    attachments: [],
    parameters: [{ name: 'page', value: `/catalogue/${number}` }],
    start: start + number,
    stop: start + number + 1,
  }
}

function traceOf(index) {
  return Array.from(
    { length: 18 },
    (_, line) => `\tat org.example.shop.Order.step${line}(Order.java:${(index * 7 + line) % 400})`,
  ).join('\n')
}
