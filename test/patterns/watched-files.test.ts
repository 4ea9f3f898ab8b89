import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { filesControl, filesSource } from '../../src/adapters/settings-file/index.ts'
import { watchFiles } from '../../src/adapters/settings-file/edits.ts'

const text = 'list: [a, b, c] # d\nimage: {tag: a}\n'

async function valuesFile(content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'watched-'))
  onTestFinished(async () => rm(folder, { recursive: true }))
  const file = join(folder, 'values.yaml')
  await writeFile(file, content)
  return file
}

test('work on a file that comes to no end is ended, and told with the file and the way on', () => {
  const watch = watchFiles(50)
  expect(() => watch('values.yaml', () => /^(a|a)*$/.test(`${'a'.repeat(60)}!`))).toThrow(
    expect.objectContaining({ code: 'TIMED_OUT', message: 'reading values.yaml timed out after 0.05 s' }),
  )
})

test('a file that takes longer than --timeout is refused in time, and stays as it is', async () => {
  const large = `${Array.from({ length: 60_000 }, (_, index) => `key${index}: v\n`).join('')}image: {tag: a}\n`
  const file = await valuesFile(large)
  const options = { timeoutMs: 1 }
  await expect(filesSource(options).look(file, ['image', 'tag'])).rejects.toMatchObject({ code: 'TIMED_OUT' })
  const edit = { path: ['image', 'tag'], from: 'a', to: 'b', at: 0, was: '', is: '' }
  await expect(filesControl(options).apply(file, [edit])).rejects.toMatchObject({ code: 'TIMED_OUT' })
  expect(await readFile(file, 'utf8')).toBe(large)
})

test('a usual file is read, and edited', async () => {
  const file = await valuesFile(text)
  const edits = await filesSource().edits(file, [{ path: ['image', 'tag'], to: 'new' }])
  expect(await filesControl().apply(file, edits)).toBe('set')
  expect(await readFile(file, 'utf8')).toBe(text.replace('tag: a', 'tag: new'))
})
