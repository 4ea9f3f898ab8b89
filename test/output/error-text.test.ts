import { expect, test } from 'vitest'
import { errorText } from '../../src/output/error-text.ts'

const screen = { columns: 60, colour: false }

test('items of a message stand in lines of their own, and another line break is shown', () => {
  const message =
    'there are 2 mistakes\n- one with what a server\nsaid, which is so long that it takes two lines\n- \u001b[31mother'
  expect(errorText({ error: { code: 'CONFIGURATION', message, suggestions: ['ls'] } }, screen)).toBe(
    'Error: there are 2 mistakes\n  - one with what a server ⏎ said, which is so long that it\n    takes two ' +
      'lines\n  - \\x1b[31mother\n\nTry:\n  ls\n',
  )
})
