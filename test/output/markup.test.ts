import { describe, expect, it } from 'vitest'
import { markdownTable, withGenerated } from '../../src/output/markup.ts'

describe('markdownTable', () => {
  it('keeps bars and line ends inside their cells', () => {
    expect(markdownTable(['a', 'b'], [['x|y', 'one\n  two']])).toBe('| a | b |\n|---|---|\n| x\\|y | one two |')
  })
})

describe('withGenerated', () => {
  const document =
    'before\n<!-- generated: one -->\nold\n<!-- /generated -->\nbetween\n<!-- generated: two -->\n<!-- ' +
    '/generated -->\nafter\n'

  it('replaces what stands between the marks and nothing else', () => {
    expect(withGenerated(document, { one: '1', two: '2' })).toBe(
      'before\n<!-- generated: one -->\n1\n<!-- /generated -->\nbetween\n<!-- generated: two -->\n2\n<!-- ' +
        '/generated -->\nafter\n',
    )
  })

  it('changes nothing the second time', () => {
    const once = withGenerated(document, { one: '1', two: '2' })
    expect(withGenerated(once, { one: '1', two: '2' })).toBe(once)
  })

  it('refuses a mark that nothing generates', () => {
    expect(() => withGenerated(document, { one: '1' })).toThrow('nothing generates `two`')
  })
})
