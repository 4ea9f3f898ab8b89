import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { manPages } from '../../bin/man.js'

const root = join(import.meta.dirname, '../..')
const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Parameters<typeof manPages>[0]
}
const about = { version: '1.2.3', description: 'Finds what is wrong' }

test('every command has a page with all of its flags, and the build has made them', () => {
  const pages = manPages(commands, about)
  expect([...pages.keys()].sort()).toEqual(readdirSync(join(root, 'dist', 'man')).sort())
  expect(pages.size).toBe(Object.keys(commands).length + 1)
  for (const { id, flags } of Object.values(commands)) {
    const page = pages.get(`testops-admin-${id.replaceAll(':', '-')}.1`)!
    for (const [name, { hidden }] of Object.entries(flags))
      expect(page.includes(`\\-\\-${name.replaceAll('-', '\\-')}`), `${id} --${name}`).toBe(hidden !== true)
  }
})

test('nothing in a text is a request of roff', () => {
  const page = manPages(
    {
      x: {
        id: 'x',
        summary: ".so /etc/passwd `a-b` \\fB 'x",
        description: "'de evil\n\n.ig\n\nдата",
        args: {},
        flags: {},
        examples: ['.pi sh'],
      },
    },
    about,
  ).get('testops-admin-x.1')!
  expect(
    page.match(/^[.'].*$/gm)!.filter((line) => /^[.'](?!TH|SH|TP|PP|RS|RE|nf|fi|nh$|ad l$|B |BR )/.test(line)),
  ).toEqual([])
  expect(page).toContain('testops\\-admin\\-x \\- \\&.so /etc/passwd \\fBa\\-b\\fR \\efB')
  expect(page).toContain('\\[u0434]\\[u0430]')
})

test('a list in a description keeps its lines', () => {
  const page = manPages(
    {
      x: {
        id: 'x',
        summary: 'X',
        description: 'Does x,\nand y.\n\nThe templates:\n  one: the first\n  .two: the second\n\nEnd.',
        args: {},
        flags: {},
      },
    },
    about,
  ).get('testops-admin-x.1')!
  expect(page).toContain(
    [
      '.PP\nDoes x, and y.\n.PP\nThe templates:',
      '.PD 0\n.IP "" 2\none: the first\n.IP "" 2\n\\&.two: the second\n.PD',
      '.PP\nEnd.\n',
    ].join('\n'),
  )
})
