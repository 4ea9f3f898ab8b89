import { expect, test } from 'vitest'
import { tryProgram } from '../../../src/lab/servers/try-program.ts'

const shell = (script: string): [string, string[]] => ['/bin/sh', ['-c', script]]
const interrupted = AbortSignal.timeout(100)

test.each([
  ['what it printed', shell('echo out; echo err >&2'), {}, { ok: true, stdout: 'out\n' }],
  [
    'only the given environment, in the given folder',
    shell('echo "$GIVEN,$HOME,$PWD"'),
    { environment: { GIVEN: 'yes' }, workingDirectory: '/' },
    { ok: true, stdout: 'yes,,/\n' },
  ],
  [
    'the last two lines of a failure',
    shell('echo out; printf "one\\ntwo\\n\\nthree\\n" >&2; exit 3'),
    {},
    { ok: false, message: 'two three' },
  ],
  ['how a silent one ended', shell('exit 3'), {}, { ok: false, message: 'exited with 3' }],
  [
    'a program that is not there',
    ['/no/such/program', []],
    {},
    { ok: false, message: '/no/such/program is not installed on this machine' },
  ],
  [
    'one that takes too long',
    shell('exec sleep 41'),
    { timeoutMs: 100 },
    { ok: false, message: "`/bin/sh -c 'exec sleep 41'` did not finish within 0.1 s" },
  ],
  [
    'one that is interrupted',
    shell('exec sleep 41'),
    { signal: interrupted },
    { ok: false, message: "`/bin/sh -c 'exec sleep 41'` was interrupted" },
  ],
] satisfies [string, [string, string[]], Parameters<typeof tryProgram>[2], object][])(
  'tells %s',
  async (_what, [file, args], options, expected) => {
    expect(await tryProgram(file, args, options)).toEqual(expected)
  },
)
