import { Linter } from 'eslint'
import { expect, test } from 'vitest'
import { platformTraits } from '../../bin/lint-rules/platform-traits.js'

const found = (code: string): number =>
  new Linter().verify(code, [
    { plugins: { own: { rules: { 'platform-traits': platformTraits } } }, rules: { 'own/platform-traits': 'error' } },
  ]).length

test.each([
  "if (deployment.platform === 'host') stop()",
  "if ('kubernetes' !== platform) stop()",
  "switch (platform) { case 'compose': stop() }",
  "open({ platform: 'kubernetes' })",
])('a platform that is named is reported: %s', (code) => {
  expect(found(code)).toBe(1)
})

test.each([
  "run(['docker', 'compose', 'up'])",
  "if ('compose' in named) stop()",
  'if (traitsOf(deployment).sharesMachine) stop()',
  "if (state === 'running') stop()",
])('other words are left alone: %s', (code) => {
  expect(found(code)).toBe(0)
})
