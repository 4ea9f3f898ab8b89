import * as files from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { readingSpace, readJson } from '../../../src/results/read/read-file.ts'
import type { Read } from '../../../src/results/read/read-file.ts'
import { resultsDirectory } from '../linted.ts'

type Step = 'openSync' | 'readSync' | 'fstatSync' | 'closeSync'

/** Node's own functions, with something that happens to the file right after the nth call of one of them. */
function withEvent(after: Step, nth: number, event: () => void): Pick<typeof files, Step> {
  let count = 0
  const own = {
    openSync: files.openSync,
    readSync: files.readSync,
    fstatSync: files.fstatSync,
    closeSync: files.closeSync,
  }
  const call = own[after] as (...args: unknown[]) => unknown
  return {
    ...own,
    [after]: (...args: unknown[]) => {
      const answer = call(...args)
      count += 1
      if (count === nth) event()
      return answer
    },
  }
}

const whole = JSON.stringify({ name: 'a', steps: [] })
const half = whole.slice(0, 8)

function told(read: Read): unknown {
  if (read.kind === 'unread') return read.why
  return read.kind === 'value' ? read.value : read.kind === 'broken' ? read.found.message : read.bytes
}

it.each<[string, string, Step, number, (path: string) => void, unknown]>([
  [
    'vanishes before it is opened again',
    half,
    'closeSync',
    1,
    (path) => files.rmSync(path),
    'the file disappeared after the directory was listed, or is a broken link',
  ],
  ['vanishes when it is open', whole, 'openSync', 1, (path) => files.rmSync(path), JSON.parse(whole)],
  [
    'was not written to its end before',
    half,
    'closeSync',
    1,
    (path) => files.writeFileSync(path, whole),
    JSON.parse(whole),
  ],
  [
    'grows while it is read',
    half,
    'fstatSync',
    1,
    (path) => files.appendFileSync(path, whole.slice(8, 12)),
    'the file changed while it was read',
  ],
  [
    'grows after it was read',
    half,
    'readSync',
    3,
    (path) => files.appendFileSync(path, whole.slice(8, 12)),
    'the file changed while it was read',
  ],
  [
    'is cut down while it is read',
    `${half}${' '.repeat(50)}`,
    'fstatSync',
    1,
    (path) => files.truncateSync(path, 10),
    'the file changed while it was read',
  ],
  [
    'is cut down to nothing before it is read',
    whole,
    'openSync',
    1,
    (path) => files.truncateSync(path),
    'the file is empty',
  ],
  [
    'becomes a directory',
    half,
    'closeSync',
    1,
    (path) => (files.rmSync(path), files.mkdirSync(path)),
    'the entry is no longer a file',
  ],
  [
    'stays as it is',
    half,
    'closeSync',
    1,
    () => undefined,
    'the file ends in the middle, after 8 bytes. The program that writes this file was stopped, or is still writing',
  ],
])('a file that %s', async (_, content, step, nth, event, expected) => {
  const path = join(resultsDirectory({ file: content }), 'file')
  expect(
    told(
      await readJson(
        dirname(path),
        path,
        readingSpace(),
        withEvent(step, nth, () => event(path)),
      ),
    ),
  ).toEqual(expected)
})

it.each([1, 1_999_999, 2_000_000, 2_000_001, 5_000_000])('a file of %d bytes is read whole', async (bytes) => {
  const path = join(resultsDirectory({ file: '7'.padEnd(bytes) }), 'file')
  expect(await readJson(dirname(path), path, readingSpace())).toMatchObject({ kind: 'value', value: 7, bytes })
})
