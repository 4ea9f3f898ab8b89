import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Compared, FilesControl } from '../../core/controls.ts'
import { secretIn } from '../../core/secret.ts'
import type { FilesSource, ValueEdit } from '../../core/sources.ts'
import { assertReplaceable, replaceFile } from '../replace-file.ts'
import { keysAt, lookAt } from '../yaml/look.ts'
import type { ParsedYaml } from '../yaml/look.ts'
import { planEdits, revertEdits } from './edits.ts'
import { bytesOf, settingsFiles } from './read.ts'

export function filesSource(): FilesSource {
  const read = settingsFiles()
  return {
    look: async (file, path) => lookAt(await read(file), path),
    keys: async (file, path) => keysAt(await read(file), path),
    edits: async (file, wanted) => planEdits(file, (await read(file)).text, wanted).edits,
    async difference(file, edits) {
      const { text } = await read(file)
      const { differenceOf } = await import('./difference.ts')
      return differenceOf(text, planEdits(file, text, edits).text)
    },
    secret: async (file) => secretIn((await bytesOf(file)).toString('utf8')),
    async variable(file, name) {
      const text = await readFile(join(dirname(file), '.env'), 'utf8').catch(() => '')
      const lines = text.split(/\r?\n/).filter((line) => line.startsWith(`${name}=`))
      return lines.at(-1)?.slice(name.length + 1).replace(/^(["'])(.*)\1\s*$/, '$2').trim() ?? null
    },
  }
}

export function filesControl(): FilesControl {
  const read = settingsFiles()
  const tried = async (file: string, edits: readonly ValueEdit[], make: (file: string, text: string, edits: readonly ValueEdit[]) => unknown): Promise<Compared> => {
    const is = await read(file)
    if (!isAsSeen(is, edits)) return 'changed'
    make(file, is.text, edits)
    await assertReplaceable(file)
    return 'set'
  }
  return {
    async apply(file, edits) {
      const { bytes, ...is } = await read(file)
      if (!isAsSeen(is, edits)) return 'changed'
      return replaced(file, bytes, planEdits(file, is.text, edits).text)
    },
    async takeBack(file, edits) {
      const { bytes, ...is } = await read(file)
      if (!isAsSeen(is, edits)) return 'changed'
      return replaced(file, bytes, revertEdits(file, is.text, edits))
    },
    try: async (file, edits) => tried(file, edits, planEdits),
    tryBack: async (file, edits) => tried(file, edits, revertEdits),
  }
}

function isAsSeen(is: ParsedYaml, edits: readonly ValueEdit[]): boolean {
  return edits.every(({ path, from, to }) => {
    const { text: now } = lookAt(is, path)
    return now === from || now === to
  })
}

async function replaced(file: string, from: Buffer, text: string): Promise<Compared> {
  const to = Buffer.from(text, 'utf8')
  if (to.equals(from)) return 'set'
  return (await replaceFile(file, { from, to })) ? 'set' : 'changed'
}
