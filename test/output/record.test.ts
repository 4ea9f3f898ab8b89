import { describe, expect, test } from 'vitest'
import { recordText } from '../../src/output/record.ts'
import type { RunEvent } from '../../src/core/run.ts'
import { binding, changed, history, reset, resetSteps, step } from '../domain/foreign-run/records.ts'
import { eventOf } from '../engine/repairing.ts'
import { plainScreen } from '../../src/output/paint.ts'

const noted = (of: number, note: string): RunEvent => eventOf({ event: 'noted', step: of, note })
const linesOf = (...of: Parameters<typeof reset>): string => recordText(reset(...of), plainScreen)

describe('a record of another machine is shown whole', () => {
  test('each tree that would be migrated, however many', () => {
    const items = [
      { project: 9, tree: null },
      ...Array.from({ length: 250 }, (_, index) => ({ project: 7, tree: index + 1 })),
      { project: 9, tree: 4 },
    ]
    const said = recordText(
      history('migrate-trees', {
        steps: [step({ kind: 'migrate-trees', api: 'https://testops.example', items, concurrency: 4 })],
      }),
      plainScreen,
    )
    const words = said.split(/\s+/).join(' ')
    for (const { tree } of items.slice(1, 251)) expect(words).toMatch(new RegExp(`[ ,]${tree!}(,| )`))
    expect(words).toContain('project 9 project 7, trees 1, 2, 3,')
    expect(words).toContain('project 9, tree 4')
  })

  test('what was accepted of a holder of the lock', () => {
    const row = { locked: true, lockGranted: '2026-11-21 01:00:00', lockedBy: 'pod-7 (10.0.0.7)' }
    const release = {
      kind: 'release-lock' as const,
      database: 'db',
      schema: 'public',
      row,
      accepts: 'unproven-holder' as const,
      lacks: ['open-session' as const, 'another-host' as const],
    }
    expect(recordText(history('unlock-changelog', { steps: [step(release)] }), plainScreen)).toContain(
      'accepts the risk unproven-holder (reasons: open-session, another-host)',
    )
  })

  test('what notes have a later step write', () => {
    const steps = resetSteps()
    const at = (kind: string): number => steps.findIndex(({ action }) => action.kind === kind)
    const said = linesOf(steps, [
      noted(at('stop-service'), 'replicas deployment/ns/testops 3'),
      noted(at('switch-exchanges'), JSON.stringify([{ ...binding, routingKey: 'planted' }])),
      noted(
        at('delete-queues'),
        JSON.stringify({
          event: 'bound',
          bindings: [{ ...binding, routingKey: 'also', typed: { x: { '!': 'int8', value: 1 } } }],
        }),
      ),
    ])
    const words = said.split(/\s+/).join(' ')
    expect(words).toContain('saved for the start of the service: 3 replicas of deployment/ns/testops')
    expect(words.match(/saved for a later step: binding .*?(planted|also)/g)).toHaveLength(2)
    expect(said.split(/\s+/).join(' ')).toContain('typed {"x":{"!":"int8","value":1}}')
  })

  test('a start says what it binds and holds', () => {
    const steps = changed('start-service', () => ({ binds: [binding], keeps: ['export'], stopsOnUndo: true }))
    expect(linesOf(steps)).toMatch(
      new RegExp(
        String.raw`binds again: [\s\S]*undo stops the service again\s+` +
          'undo first protects these queues from deletion by RabbitMQ: export',
      ),
    )
  })
})
