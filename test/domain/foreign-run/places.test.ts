import { expect, test } from 'vitest'
import type { RunHistory } from '../../../src/core/run.ts'
import { eventOf } from '../../engine/repairing.ts'
import { fileWorld } from '../../fakes/index.ts'
import { history, setting, step, unfitOf } from './records.ts'

const path = '/etc/testops/testops.env'
const others = `undoing the run would also change lines of ${path} that do not set VENDOR_RABBIT_DURABLE`

function noted(trace: { at: number; was: string; is: string }): RunHistory {
  const note = `environment-file ${JSON.stringify({ path, ...trace })}`
  return history('set-env', { steps: [step({ kind: 'set-setting', ...setting })] }, [
    eventOf({ event: 'intent', step: 0 }),
    eventOf({ event: 'noted', step: 0, note }),
  ])
}

const line = 'VENDOR_RABBIT_DURABLE='
test.each<[what: string, text: string, trace: { at: number; was: string; is: string }, said: string[]]>([
  ['its value', `A=é\n${line}true\nB=2`, { at: Buffer.byteLength(`A=é\n${line}`), was: 'fals', is: 'tru' }, []],
  ['its line', `A=1\n${line}true`, { at: 4, was: '', is: `${line}true\n` }, []],
  ['its line, behind one without an end', `A=1\n${line}true`, { at: 3, was: '', is: `\n${line}true\n` }, []],
  ['its line, that is gone', 'A=1\nB=2', { at: 4, was: `${line}false\n`, is: '' }, []],
  ['its value, which is not written yet', `${line}false\nB=2`, { at: line.length, was: 'fals', is: 'tru' }, []],
  ['the value of another', `${line}true\nB=true`, { at: line.length + 7, was: 'fals', is: 'tru' }, [others]],
  ['the middle of another', `${line}true\nB=secret`, { at: line.length + 9, was: `${line}false\n`, is: '' }, [others]],
  ['the end of the line before it', `A=1\n${line}true`, { at: 3, was: `${line}false\n`, is: '' }, [others]],
])('a note at %s', async (_, text, trace, said) =>
  expect(await unfitOf(noted(trace), { files: fileWorld({ [path]: { '': text } }).source })).toEqual(said),
)

test('a file that is not UTF-8 has no known places', async () => {
  const files = fileWorld({ [path]: { '': `# \u{fffd}\n${line}true` } }).source
  expect(await unfitOf(noted({ at: 5, was: 'fals', is: 'tru' }), { files })).toEqual([
    `cannot tell which lines of ${path} would change if the run were undone: the file is not in UTF-8`,
  ])
})
