import { readdirSync } from 'node:fs'
import { Command } from '@oclif/core'
import { expect, test } from 'vitest'
import { commands } from '../../src/commands/index.ts'

const files = readdirSync(new URL('../../src/commands', import.meta.url), { recursive: true, encoding: 'utf8' })
const ids = files.filter((name) => name.endsWith('.ts') && name !== 'index.ts').map((name) => name.replace(/\.ts$/, '').replace(/[\\/]/g, ':'))

test('every file of a command is in the table under its path', () => {
  expect(Object.keys(commands).sort()).toEqual(ids.sort())
})

test.each(ids)('%s is a command of that name', async (id) => {
  const { default: command } = (await commands[id]?.()) ?? {}
  expect(command?.prototype).toBeInstanceOf(Command)
  expect(command?.name.toLowerCase()).toBe(id.replaceAll(/[:-]/g, ''))
})
