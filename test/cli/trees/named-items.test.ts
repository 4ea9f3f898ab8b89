import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { namedItems } from '../../../src/cli/trees/named-items.ts'
import type { NamedTrees } from '../../../src/cli/trees/named-items.ts'
import { AdminError } from '../../../src/core/error.ts'

const none = { projects: [], trees: [], file: undefined }

/** A file with that text. */
async function file(text: string | Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-items-'))
  onTestFinished(async () => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'trees.txt'), text)
  return join(folder, 'trees.txt')
}

async function fault(of: Partial<NamedTrees>): Promise<string> {
  const error = await namedItems({ ...none, ...of }).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AdminError)) throw new Error('it was taken')
  return `${error.code} ${error.message.replace(/\S+\/trees\.txt/g, 'FILE')}`
}

test('projects and trees, as they are named', async () => {
  expect(await namedItems({ projects: ['3', '1'], trees: ['1/12'], file: undefined })).toEqual([
    { project: 3, tree: null },
    { project: 1, tree: null },
    { project: 1, tree: 12 },
  ])
  expect(await namedItems({ ...none, all: true })).toEqual([])
  expect(await fault(none)).toBe('USAGE no projects or trees were given. Name at least one, or request all of them')
})

test('a file as people and other programs write it', async () => {
  const text = '\ufeff# trees that look wrong\r\n1/12\r\n\r\n  7  # all of it\r\n1/12\n999999999999999'
  const items = [
    { project: 1, tree: 12 },
    { project: 7, tree: null },
    { project: 1, tree: 12 },
    { project: 999_999_999_999_999, tree: null },
  ]
  expect(await namedItems({ ...none, file: await file(text) })).toEqual(items)
  const chunks = (async function* () {
    yield Buffer.from('1/1')
    yield Buffer.from('2\n7\n')
  })()
  expect(await namedItems({ ...none, file: '-' }, chunks)).toEqual(items.slice(0, 2))
})

test.each([
  { projects: ['abc'], says: '--project abc: not a project id' },
  { projects: ['0'], says: '--project 0: not a project id' },
  { projects: ['-1'], says: '--project -1: not a project id' },
  { projects: ['1.5'], says: '--project 1.5: not a project id' },
  { projects: ['1/2'], says: '--project 1/2: not a project id' },
  { projects: ['1,2'], says: '--project 1,2: not a project id' },
  { projects: ['9'.repeat(20)], says: `--project ${'9'.repeat(20)}: not a project id` },
  { trees: ['12'], says: '--tree 12: expected PROJECT/TREE, for example 3/12' },
  { trees: ['1/2/3'], says: '--tree 1/2/3: expected PROJECT/TREE, for example 3/12' },
  { trees: ['1/'], says: '--tree 1/: expected PROJECT/TREE, for example 3/12' },
])('ids that are none: $says', async ({ says, ...named }) => {
  expect(await fault(named)).toBe(`USAGE ids must be whole numbers above 0: ${says}`)
})

test('every bad line is named, the first few of many', async () => {
  expect(await fault({ file: await file('1\nx\n2/y\n') })).toBe(
    'USAGE ids must be whole numbers above 0: line 2 of FILE: "x"; line 3 of FILE: "2/y"',
  )
  const many = Array.from({ length: 12 }, (_, index) => `p${index}`).join('\n')
  expect(await fault({ file: await file(many) })).toMatch(/line 5 of FILE: "p4"; and 7 more$/)
  expect(await fault({ file: await file('\u001b[31mred') })).toBe(
    'USAGE ids must be whole numbers above 0: line 1 of FILE: "\\u001b[31mred"',
  )
})

test.each(['', '\n\n', '# nothing\n  # at all\n'])('an empty file: %j', async (text) => {
  expect(await fault({ file: await file(text) })).toBe('USAGE FILE lists no projects or trees')
})

test('a file that is not there, or is no list', async () => {
  expect(await fault({ file: '/nowhere/trees.txt' })).toMatch(/^USAGE FILE cannot be read: ENOENT/)
  expect(await fault({ file: tmpdir() })).toMatch(/^USAGE \S+ cannot be read: EISDIR/)
  expect(await fault({ file: await file(Buffer.alloc(4_000_001, '1\n')) })).toBe(
    'USAGE FILE is larger than 4 MB: is it the right file?',
  )
  expect(await fault({ file: await file(`${Array.from({ length: 100_001 }, (_, id) => id + 1).join('\n')}\n`) })).toBe(
    'USAGE 100001 projects and trees are too many: one run takes at most 100000. Split the list',
  )
})
