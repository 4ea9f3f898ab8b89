import { expect, test } from 'vitest'
import { tidyUsage } from '../../src/cli/language.ts'

test.each([
  ['doctor [--output FILE... |  | ] [--quiet]', 'doctor [--output FILE...] [--quiet]'],
  ['doctor [--dry-run ] [--confirm NAME  --repairs ID...]', 'doctor [--dry-run] [--confirm NAME --repairs ID...]'],
  ['doctor [--all | --wait] [--format table|short]', 'doctor [--all | --wait] [--format table|short]'],
])('%s', (usage, tidy) => expect(tidyUsage(usage)).toBe(tidy))
