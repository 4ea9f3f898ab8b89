import { describe, expect, test } from 'vitest'
import { selectChecks, selectOwnChecks, selectOwnChecksOfAll } from '../../../src/cli/doctor/session.ts'
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

describe('own checks', () => {
  const own = [{ id: 'own/outbox' }, { id: 'own/waiting' }]

  test.each<[only: string[], skip: string[], builtIn: number, chosen: string[]]>([
    [[], [], 4, ['own/outbox', 'own/waiting']],
    [['own/outbox'], [], 0, ['own/outbox']],
    [['own'], ['own/outbox'], 0, ['own/waiting']],
    [['own/*', 'broker'], [], 2, ['own/outbox', 'own/waiting']],
    [['broker'], [], 2, []],
    [['broker'], ['own/outbox'], 2, []],
    [[], ['own'], 4, []],
    [[], ['own/outbox', 'broker'], 2, ['own/waiting']],
  ])('only %j, not %j', (only, skip, builtIn, chosen) => {
    const others = select(only, skip).length
    expect(others).toBe(builtIn)
    expect(selectOwnChecks(own, { only, skip }, { others }).map(({ id }) => id)).toEqual(chosen)
  })

  test.each<[only: string[], skip: string[], message: string]>([
    [['own/outbx'], [], 'no check `own/outbx`; did you mean `own/outbox`?'],
    [['broker', 'own/outbx'], [], 'no check `own/outbx`; did you mean `own/outbox`?'],
    [[], ['own/outbx'], 'no check `own/outbx`; did you mean `own/outbox`?'],
    [['own'], ['own'], '--only and --skip leave no check to run'],
    [['own'], ['own', 'brocker'], 'no check `brocker`; did you mean `broker`?'],
  ])('names that are none: only %j, not %j', (only, skip, message) => {
    const choose = (): unknown => selectOwnChecks(own, { only, skip }, { others: select(only, skip).length })
    expect(thrownBy(choose)).toMatchObject({ code: 'USAGE', message })
  })

  test.each<[only: string[], message: string]>([
    [['own'], 'no check `own`: this deployment has no own checks'],
    [['own/outbox'], 'no check `own/outbox`: this deployment has no own checks'],
  ])('a deployment without own checks: only %j', (only, message) => {
    expect(thrownBy(() => selectOwnChecks([], { only }, { others: 0 }))).toMatchObject({ code: 'USAGE', message })
  })

  test.each(['own', 'own/', 'own/*'])('a deployment without own checks runs the others: not %s', (skip) => {
    expect(selectOwnChecks([], { skip: [skip] }, { others: 4 })).toEqual([])
    expect(thrownBy(() => selectOwnChecks([], { skip: ['own/outbox'] }, { others: 4 }))).toMatchObject({
      code: 'USAGE',
      message: 'no check `own/outbox`: this deployment has no own checks',
    })
  })
})

describe('own checks of several deployments: one has two, one has one of them, one has none', () => {
  const [outbox, waiting] = [{ id: 'own/outbox' }, { id: 'own/waiting' }]
  const all = [[outbox, waiting], [waiting], []]
  const chosenOf = (only: string[], skip: string[], of: readonly ({ id: string }[] | null)[] = all): string[][] =>
    selectOwnChecksOfAll(of, { only, skip }, { others: select(only, skip).length }).map((own) =>
      own.map(({ id }) => id),
    )

  test.each<[only: string[], skip: string[], chosen: string[][]]>([
    [[], [], [['own/outbox', 'own/waiting'], ['own/waiting'], []]],
    [['own'], [], [['own/outbox', 'own/waiting'], ['own/waiting'], []]],
    [['own/outbox'], [], [['own/outbox'], [], []]],
    [['broker', 'own/outbox'], [], [['own/outbox'], [], []]],
    [['broker'], [], [[], [], []]],
    [[], ['own/waiting'], [['own/outbox'], [], []]],
    [[], ['own'], [[], [], []]],
    [['own'], ['own/outbox'], [['own/waiting'], ['own/waiting'], []]],
  ])('each runs those that it has: only %j, not %j', (only, skip, chosen) => {
    expect(chosenOf(only, skip)).toEqual(chosen)
  })

  test.each<[only: string[], skip: string[], message: string]>([
    [['own/outbx'], [], 'no check `own/outbx`; did you mean `own/outbox`?'],
    [['own/outbox', 'own/watting'], [], 'no check `own/watting`; did you mean `own/waiting`?'],
    [['broker', 'own/outbx'], [], 'no check `own/outbx`; did you mean `own/outbox`?'],
    [[], ['own/outbx'], 'no check `own/outbx`; did you mean `own/outbox`?'],
    [['own'], ['own'], '--only and --skip leave no check to run'],
    [['own/outbox'], ['own/outbox'], '--only and --skip leave no check to run'],
  ])('a name that no deployment has: only %j, not %j', (only, skip, message) => {
    expect(thrownBy(() => chosenOf(only, skip))).toMatchObject({ code: 'USAGE', message })
  })

  test('nobody has own checks: they can be skipped, not asked for', () => {
    expect(chosenOf([], ['own'], [[], []])).toEqual([[], []])
    expect(thrownBy(() => chosenOf(['own'], [], [[], []]))).toMatchObject({
      code: 'USAGE',
      message: 'no check `own`: none of these deployments has own checks',
    })
  })

  test('where an entry is wrong, nobody can say that a name is misspelt', () => {
    expect(chosenOf(['own/other'], [], [[outbox], null])).toEqual([[], []])
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
