import { describe, expect, test } from 'vitest'
import { quietStreams, wantsJson, screenOf } from '../../src/cli/write.ts'

describe('whether JSON is wanted', () => {
  test.each<[words: string[], environment: NodeJS.ProcessEnv, wanted: boolean]>([
    [['doctor'], {}, false],
    [['doctor', '--json'], {}, true],
    [['doctor', '--format', 'json'], {}, true],
    [['doctor', '--format=json'], {}, true],
    [['doctor', '--format', 'table'], {}, false],
    [['explain', '--', '--json'], {}, false],
    [['doctor'], { TESTOPS_ADMIN_JSON: 'true' }, true],
    [['doctor'], { TESTOPS_ADMIN_JSON: '0' }, false],
  ])('%j %j', (words, environment, wanted) => expect(wantsJson(words, environment)).toBe(wanted))
})

describe('what a stream can show', () => {
  test.each<
    [stream: { isTTY?: boolean; columns?: number }, environment: NodeJS.ProcessEnv, columns: number, colour: boolean]
  >([
    [{}, {}, 80, false],
    [{ columns: 200 }, {}, 80, false],
    [{ isTTY: true, columns: 132 }, {}, 132, true],
    [{ isTTY: true, columns: 132 }, { NO_COLOR: '1' }, 132, false],
    [{ isTTY: true, columns: 132 }, { NO_COLOR: '' }, 132, true],
    [{ isTTY: true, columns: 132 }, { TERM: 'dumb' }, 132, false],
    [{ isTTY: true, columns: 0 }, {}, 80, true],
    [{ isTTY: true, columns: 20 }, {}, 40, true],
  ])('%j %j', (stream, environment, columns, colour) =>
    expect(screenOf(stream, environment)).toEqual({ columns, colour }),
  )
})

describe('what --quiet holds back', () => {
  const [out, err] = [process.stdout, process.stderr]

  test.each<[words: string[], environment: NodeJS.ProcessEnv, streams: NodeJS.WriteStream[]]>([
    [['doctor'], {}, []],
    [['doctor', '--quiet'], {}, [out, err]],
    [['doctor'], { TESTOPS_ADMIN_QUIET: 'true' }, [out, err]],
    [['doctor'], { TESTOPS_ADMIN_QUIET: '0' }, []],
    [['doctor', '--', '--quiet'], {}, []],
    [['doctor', '--quiet', '--json'], {}, [err]],
    [['doctor', '--quiet'], { TESTOPS_ADMIN_JSON: '1' }, [err]],
    [['doctor', '--quiet', '--format', 'markdown'], {}, [err]],
    [['doctor', '--quiet', '--format=short'], {}, [out, err]],
    [['doctor', '--fix', '--dry-run', '--quiet'], {}, []],
    [['doctor', '--watch', '--quiet'], {}, []],
    [['scan-logs', '-f', '--quiet'], {}, []],
  ])('%j %j', (words, environment, streams) => expect(quietStreams(words, environment)).toEqual(streams))
})
