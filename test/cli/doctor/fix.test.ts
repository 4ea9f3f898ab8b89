import { expect, test } from 'vitest'
import type { CheckReport } from '../../../src/core/check.ts'
import { stepsOf } from '../../../src/cli/doctor/fix-steps.ts'

const problem = (id: string, commands: readonly string[], more: Partial<CheckReport> = {}): CheckReport => ({
  id,
  title: '',
  status: 'problem',
  severity: 'error',
  findings: [{ message: 'm', evidence: [] }],
  remedy: { text: 't', commands: [...commands] },
  docs: 'd',
  durationMs: 0,
  ...more,
})

const does = (command: string): string =>
  stepsOf({ checks: [problem('a/b', [command])] }, false)
    .map((it) => [it.does, ...(it.fix === undefined ? [] : [it.fix, ...it.words!])].join(' '))
    .join()

test.each([
  ['testops-admin unlock-changelog -d lab', 'repair unlock-changelog unlock-changelog -d lab'],
  ["testops-admin unlock-changelog -d 'my lab'", 'repair unlock-changelog unlock-changelog -d my lab'],
  ['testops-admin service start -d lab   # on any machine', 'repair service-start service start -d lab'],
  ['testops-admin resume RUN-1 -d lab', 'repair resume resume RUN-1 -d lab'],
  ['testops-admin resume --adopt RUN-1 -d lab', 'decision'],
  ['testops-admin reset-queues --discard-messages -d lab', 'decision'],
  ['testops-admin reset-queues --accept-risk=shared-vhost -d lab', 'decision'],
  ['testops-admin discard RUN-1 -d lab', 'decision'],
  ['testops-admin undo RUN-1 -d lab', 'decision'],
  ['testops-admin service stop -d lab', 'by-hand'],
  ['testops-admin use-legacy-image -d lab', 'by-hand'],
  ['testops-admin set-env A=b --values v.yaml', 'by-hand'],
  ['testops-admin use-legacy-image -d lab --apply', 'repair use-legacy-image use-legacy-image -d lab --apply'],
  ['testops-admin doctor -d lab   # once the migration has finished', 'wait'],
  ['testops-admin explain stuck-lock', 'by-hand'],
  ['sudo systemctl start redis   # on db.example.org', 'by-hand'],
  ['testops-admin unlock-changelog -d "$(cat name)"', 'by-hand'],
])('%s', (command, expected) => {
  expect(does(command)).toBe(expected)
})

test('errors come before warnings, and warnings only if asked for; consequences never', () => {
  const checks = [
    problem('a/warned', ['testops-admin flush-sessions -d lab'], { severity: 'warning' }),
    problem('b/wrong', ['testops-admin unlock-changelog -d lab']),
    problem('c/consequence', ['testops-admin service start -d lab'], { because: 'b/wrong' }),
  ]
  const ids = (withWarnings: boolean): string[] => stepsOf({ checks }, withWarnings).map(({ root }) => root.id)
  expect([ids(false), ids(true)]).toEqual([['b/wrong'], ['b/wrong', 'a/warned']])
})

test('a remedy of comments, or none, is by hand', () => {
  const steps = stepsOf({ checks: [problem('a/b', ['# start the service'])] }, false)
  expect(steps).toMatchObject([{ does: 'by-hand', command: null }])
})

test('a run that comes first for several causes is resumed for its own', () => {
  const resume = 'testops-admin resume RUN-1 -d lab'
  const steps = stepsOf({ checks: [problem('a/b', [resume]), problem('service/unfinished-repair', [resume])] }, false)
  expect(steps.map(({ root }) => root.id)).toEqual(['service/unfinished-repair', 'service/unfinished-repair'])
})

test('an unfinished repair comes before what waits for it, and what waits comes last', () => {
  const wait = 'testops-admin doctor -d lab   # run the checks again once the running migration or repair has finished'
  const checks = [
    problem('sessions/clock', [wait, 'testops-admin flush-sessions -d lab']),
    problem('service/unfinished-repair', ['testops-admin resume RUN-1 -d lab']),
    problem('integrations/credentials', ['# correct the password']),
    problem('database/reachable', [wait]),
    problem('broker/reachable', ['sudo systemctl start rabbitmq-server']),
  ]
  expect(stepsOf({ checks }, false).map(({ root, does }) => `${root.id} ${does}`)).toEqual([
    'broker/reachable by-hand',
    'service/unfinished-repair repair',
    'database/reachable wait',
    'integrations/credentials by-hand',
    'sessions/clock wait',
  ])
})

test('what a person has to do comes first if it keeps the service from starting', () => {
  const checks = [
    problem('database/changelog-lock', ['testops-admin unlock-changelog -d lab']),
    problem('integrations/credentials', ['# correct the password']),
    problem('service/cpu-level', ['testops-admin use-legacy-image -d lab']),
    problem('broker/reachable', ['sudo systemctl start rabbitmq-server']),
    problem('broker/queues-durable', ['testops-admin reset-queues -d lab']),
  ]
  expect(stepsOf({ checks }, false).map(({ root, does }) => `${root.id} ${does}`)).toEqual([
    'service/cpu-level by-hand',
    'broker/reachable by-hand',
    'database/changelog-lock repair',
    'integrations/credentials by-hand',
    'broker/queues-durable repair',
  ])
})
