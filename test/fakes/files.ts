import type { FilesControl } from '../../src/core/controls.ts'
import type { FilesSource, ValueEdit, ValueLook } from '../../src/core/sources.ts'
import { Secret } from '../../src/core/secret.ts'
import { AdminError } from '../../src/core/error.ts'

/** Files in memory: each file's values by their paths, joined by dots. */
export interface FileWorld {
  readonly files: Map<string, Map<string, string>>
  readonly source: FilesSource
  readonly control: FilesControl
}

export function fileWorld(of: Readonly<Record<string, Readonly<Record<string, string>>>> = {}): FileWorld {
  const files = new Map(Object.entries(of).map(([file, values]) => [file, new Map(Object.entries(values))]))
  const valuesOf = (file: string): Map<string, string> => {
    const values = files.get(file)
    if (!values) throw new AdminError('USAGE', `the file ${file} is missing`, [`ls -l ${file}`])
    return values
  }
  const under = (file: string, path: readonly string[]): string[] =>
    [...valuesOf(file).keys()].filter((it) => it.startsWith(path.map((key) => `${key}.`).join('')))
  const look = (file: string, path: readonly string[]): ValueLook => {
    const values = valuesOf(file)
    const text = values.get(path.join('.')) ?? null
    const found =
      path.findLastIndex(
        (_, at) => values.has(path.slice(0, at + 1).join('.')) || under(file, path.slice(0, at + 1)).length > 0,
      ) + 1
    return {
      found,
      isOpen: text !== null || !values.has(path.slice(0, found).join('.')),
      kind: values.has(path.slice(0, found).join('.')) ? 'single' : 'map',
      text,
      isText: text !== null,
      line: found === 0 ? null : 1,
    }
  }
  const set = (file: string, edits: readonly ValueEdit[], which: 'to' | 'from'): 'set' | 'changed' => {
    if (!fits(file, edits)) return 'changed'
    for (const edit of edits) {
      const to = edit[which]
      if (to === null) valuesOf(file).delete(edit.path.join('.'))
      else valuesOf(file).set(edit.path.join('.'), to)
    }
    return 'set'
  }
  const fits = (file: string, edits: readonly ValueEdit[]): boolean =>
    edits.every(({ path, from, to }) => [from, to].includes(look(file, path).text))
  return {
    files,
    source: {
      look: async (file, path) => look(file, path),
      keys: async (file, path) => [...new Set(under(file, path).map((it) => it.split('.')[path.length]!))],
      edits: async (file, wanted) =>
        wanted.map(({ path, to }) => ({ path, from: look(file, path).text, to, at: 0, was: '', is: '' })),
      difference: async (_, edits) =>
        edits.map(({ path, from, to }) => `- ${path.at(-1)}: ${from}\n+ ${path.at(-1)}: ${to}\n`).join(''),
      included: async (file) => ({ files: [file], others: [] }),
      extended: async () => null,
      secret: async (file) => new Secret(valuesOf(file).get('') ?? ''),
      places: async (file, below, signs) => {
        const maps = [...valuesOf(file).keys()].flatMap((key) => key.split('.').map((_, at, all) => all.slice(0, at)))
        const all = [...new Set(maps.map((it) => JSON.stringify(it)))].map((it) => JSON.parse(it) as string[])
        const inside = all.filter(
          (path) =>
            below.every((key, at) => path[at] === key) &&
            signs.some((sign) => look(file, [...path, ...sign]).found === path.length + sign.length),
        )
        return inside.sort((a, b) => a.length - b.length)
      },
      names: async (file) => [...valuesOf(file).keys()].flatMap((key) => key.split('.')),
      rendered: async ({ chart }) => Promise.reject(new AdminError('UNAVAILABLE', `there is no helm for ${chart}`)),
      variable: async (file, name) => valuesOf(file).get(`$${name}`) ?? null,
    },
    control: {
      apply: async (file, edits) => set(file, edits, 'to'),
      takeBack: async (file, edits) => set(file, edits, 'from'),
      try: async (file, edits) => (fits(file, edits) ? 'set' : 'changed'),
      tryBack: async (file, edits) => (fits(file, edits) ? 'set' : 'changed'),
    },
  }
}

export function fakeFiles(): FilesSource {
  return fileWorld({ '/srv/values.yaml': { version: '527u01', 'image.imageName': 'testops' } }).source
}
