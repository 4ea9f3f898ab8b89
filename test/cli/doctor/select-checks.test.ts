import { describe, expect, test } from 'vitest'
import { selectChecks } from '../../../src/cli/doctor/session.ts'
import { AdminError } from '../../../src/core/error.ts'

const catalogue = ['database/reachable', 'database/disk', 'broker/reachable', 'broker/alarms'].map((id) => ({ id }))
const select = (only: string[], skip: string[]): string[] => selectChecks(catalogue, only, skip).map(({ id }) => id)

describe('which checks are run', () => {
  test.each<[only: string[], skip: string[], chosen: string[]]>([
    [[], [], ['database/reachable', 'database/disk', 'broker/reachable', 'broker/alarms']],
    [['broker/alarms', 'database/disk'], [], ['database/disk', 'broker/alarms']],
    [['broker'], [], ['broker/reachable', 'broker/alarms']],
    [['broker/'], [], ['broker/reachable', 'broker/alarms']],
    [['broker/*'], ['broker/alarms'], ['broker/reachable']],
    [[], ['database', 'broker/alarms'], ['broker/reachable']],
  ])('only %j, not %j', (only, skip, chosen) => expect(select(only, skip)).toEqual(chosen))
})

describe('names that are none', () => {
  test.each<[only: string[], skip: string[], message: string, suggestion: string]>([
    [['broker/alarm'], [], 'no check `broker/alarm`; did you mean `broker/alarms`?', '--only broker/alarms'],
    [['brocker'], [], 'no check `brocker`; did you mean `broker`?', '--only broker'],
    [[], ['database/dsk'], 'no check `database/dsk`; did you mean `database/disk`?', '--skip database/disk'],
    [
      ['zebra'],
      [],
      'no check `zebra`; the closest known names are `broker/reachable`, `database/reachable` or `broker/alarms`',
      '--only broker/reachable',
    ],
    [
      [''],
      [],
      'no check ``; the closest known names are `database`, `broker` or `database/reachable`',
      '--only database',
    ],
    [['broker'], ['broker'], '--only and --skip leave no check to run', 'testops-admin checks'],
  ])('only %j, not %j', (only, skip, message, suggestion) => {
    const error = thrownBy(() => select(only, skip))
    expect(error).toBeInstanceOf(AdminError)
    expect(error).toMatchObject({ code: 'USAGE', message })
    expect((error as AdminError).suggestions[0]).toBe(suggestion)
  })
})

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}
