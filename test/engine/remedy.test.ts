import { expect, it } from 'vitest'
import type { Deployment } from '../../src/core/deployment.ts'
import { fillRemedy } from '../../src/engine/remedy.ts'
import { commands } from '../fakes/index.ts'

const deployment = (name: string): Deployment => ({
  name,
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: null,
})

it('fills in what is typed on the platform', () => {
  const remedy = {
    text: 'Change {settings}.',
    commands: ['{stop}', 'x -d {deployment}', '{start}'],
    risk: '{deployment} is down',
    undo: '{restart}',
  }
  expect(fillRemedy(remedy, deployment('prod'), commands)).toEqual({
    text: 'Change /etc/testops/testops.env.',
    commands: ['systemctl stop testops', 'x -d prod', 'systemctl start testops'],
    risk: 'prod is down',
    undo: 'systemctl restart testops',
  })
})

it('names the configuration file in commands where a flag named it', () => {
  const remedy = { text: 'Of {deployment}: x -d {deployment}.', commands: ['x -d {deployment} --only y'] }
  expect(fillRemedy(remedy, { ...deployment('prod'), config: 'my conf.yaml' }, commands)).toEqual({
    text: "Of prod: x -d prod --config 'my conf.yaml'.",
    commands: ["x -d prod --config 'my conf.yaml' --only y"],
  })
})

it('says in words what the platform cannot name, and leaves other braces alone', () => {
  const remedy = { text: 'Look at {settings}, {other}.', commands: ["curl -w '%{time_total}'", '{restart}'] }
  expect(fillRemedy(remedy, deployment('prod'), null)).toEqual({
    text: "Look at the service's settings, {other}.",
    commands: ["curl -w '%{time_total}'", '# restart the service'],
  })
})

it.each([
  ['prod', 'prod'],
  ['old box', "'old box'"],
  ["it's", '"it\'s"'],
  ['$(reboot)', "'$(reboot)'"],
  ['', "''"],
])('quotes the name %s for a shell', (name, quoted) => {
  expect(fillRemedy({ text: '', commands: ['x -d {deployment}'] }, deployment(name), commands).commands).toEqual([
    `x -d ${quoted}`,
  ])
})
