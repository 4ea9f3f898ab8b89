import { expect, test } from 'vitest'
import { fitted } from '../../src/output/doctor/table.ts'

const report = `prod: 3 checks\n\n${'a'.repeat(25)}\nb\nc\nd\n\nHealthy: 3 ok.\nNext: x\n`

test('a report that the terminal has no room for keeps its beginning and its verdict', () => {
  expect(fitted(report, { rows: 10, columns: 20 })).toBe(report)
  expect(fitted(report, { rows: 9, columns: 20 })).toBe(
    `prod: 3 checks\n\n${'a'.repeat(25)}\n\n(4 more lines do not fit on this terminal)\n\nHealthy: 3 ok.\nNext: x\n`,
  )
})
