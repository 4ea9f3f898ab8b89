import { readdirSync } from 'node:fs'
import { Command } from '@oclif/core'
import { expect, test } from 'vitest'
import { commands } from '../../src/commands/index.ts'

const files = readdirSync(new URL('../../src/commands', import.meta.url), { recursive: true, encoding: 'utf8' })
const ids = files
  .filter((name) => name.endsWith('.ts') && name !== 'index.ts')
  .map((name) => name.replace(/\.ts$/, '').replace(/[\\/]/g, ':'))

test('every file of a command is in the table under its path', () => {
  expect(Object.keys(commands).sort()).toEqual(ids.sort())
})

test.each(ids)('%s is a command of that name', async (id) => {
  const { default: command } = (await commands[id]?.()) ?? {}
  expect(command?.prototype).toBeInstanceOf(Command)
  expect(command?.name.toLowerCase()).toBe(id.replaceAll(/[:-]/g, ''))
})

/** Of help: a verb first, in sentence case, without a full stop. */
const asHelp = /^(?:[A-Z]|`)(?!.*\.$)/

test.each(ids)('the help of %s says what it and its flags do', async (id) => {
  const { default: command } = (await commands[id]?.()) ?? {}
  expect(command?.summary).toMatch(asHelp)
  expect(command?.summary?.length).toBeLessThanOrEqual(60)
  const flags = Object.entries({ ...command?.baseFlags, ...command?.flags })
  expect(flags.length).toBeGreaterThan(1)
  // a risk's own name stands first where it is the only one
  expect(
    flags
      .filter(([, { summary = '' }]) => !asHelp.test(summary.replace(/^plain-http: a/, 'A')))
      .map(([name, { summary }]) => [name, summary]),
  ).toEqual([])
})
