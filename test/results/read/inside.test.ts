import * as files from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LeadsOut, openInside } from '../../../src/results/read/inside.ts'
import { resultsDirectory } from '../linted.ts'

/** Node's own functions, with something that happens right before the nth file is opened. */
function withEvent(nth: number, event: () => void): Pick<typeof files, 'openSync' | 'fstatSync' | 'closeSync'> {
  let count = 0
  return {
    fstatSync: files.fstatSync,
    closeSync: files.closeSync,
    openSync: (...of: Parameters<typeof files.openSync>) => {
      count += 1
      if (count === nth) event()
      return files.openSync(...of)
    },
  }
}

const replaced = (path: string, target: string): void => {
  files.rmSync(path, { recursive: true })
  files.symlinkSync(target, path)
}
const openFiles = (): number => files.readdirSync('/proc/self/fd').length

it.each<[string, string, number, (folder: string) => void]>([
  ['itself, after it was listed', 'x', 1, (folder) => replaced(join(folder, 'x'), '../outside/x')],
  [
    'what a link leads to, after that was found to be inside',
    'link',
    2,
    (folder) => replaced(join(folder, 'x'), '../outside/x'),
  ],
  [
    'a folder on the way, after it was found to be one',
    'sub/x',
    1,
    (folder) => replaced(join(folder, 'sub'), '../outside'),
  ],
  ['a folder on the way of a link', 'deep', 2, (folder) => replaced(join(folder, 'sub'), '../outside')],
])('a file is not opened where a link out of the directory takes the place of %s', (_, name, nth, event) => {
  const parent = resultsDirectory({ 'outside/x': 'secret', 'in/x': 'x', 'in/sub/x': 'x' })
  const folder = join(parent, 'in')
  files.symlinkSync('x', join(folder, 'link'))
  files.symlinkSync('sub/x', join(folder, 'deep'))
  const path = join(folder, name)
  const whole = openInside(folder, path)
  expect(files.readFileSync(whole, 'utf8')).toBe('x')
  files.closeSync(whole)
  const before = openFiles()
  expect(() =>
    openInside(
      folder,
      path,
      withEvent(nth, () => event(folder)),
    ),
  ).toThrow(/points outside the directory|ELOOP/)
  expect(openFiles()).toBe(before)
})

it('a directory whose name another one’s begins with is another one', () => {
  const parent = resultsDirectory({ 'in/a': '', 'in-other/x': 'secret' })
  files.symlinkSync('../in-other/x', join(parent, 'in/x'))
  for (const root of ['in', 'in/'])
    expect(() => openInside(join(parent, root), `${join(parent, 'in')}/x`)).toThrow(LeadsOut)
})
