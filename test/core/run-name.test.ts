import { describe, expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { assertRunName, isRunName, newRunName } from '../../src/core/run.ts'
import { strangeNames } from '../support/strange-names.ts'
import { repairs } from '../../src/repairs/index.ts'

test('what a run is called passes, of every repair', () => {
  for (const repair of Object.keys(repairs))
    expect(isRunName(newRunName(repair, '2026-11-21T02:12:44.463Z')), repair).toBe(true)
  expect(newRunName('unlock-changelog', '2026-11-21T02:12:44.463Z')).toMatch(
    /^20261121T021244Z-unlock-changelog-[0-9a-f]{4}$/,
  )
})

describe('what is no name of a run', () => {
  test.each(strangeNames.map((name) => [JSON.stringify(name).slice(0, 60), name]))('%s', (_, name) => {
    expect(isRunName(name)).toBe(false)
    let thrown: unknown = null
    try {
      assertRunName(name)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(AdminError)
    const { code, message, exitCode } = thrown as AdminError
    expect([code, exitCode]).toEqual(['USAGE', 64])
    // one short sentence, in which nothing foreign steers
    expect(message).toMatch(
      /^`[^\p{C}]*` is not the name of a run. Example of a name: 20261121T021244Z-unlock-changelog-1f3a$/u,
    )
    expect(message.length).toBeLessThan(700)
  })
})
