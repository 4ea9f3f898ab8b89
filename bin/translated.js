// Records that each translation under explain/ is right for the English text as it is now: writes
// explain/LANGUAGE.sums.yaml anew, and prints what has changed in it.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readTexts } from './explain-texts.js'
import { sumsOf, sumsText } from './translations.js'

const folder = fileURLToPath(new URL('../explain', import.meta.url))
const texts = await readTexts(folder)
for (const language of Object.keys(texts.translations)) {
  const path = join(folder, `${language}.sums.yaml`)
  const before = await readFile(path, 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error
    return ''
  })
  const next = sumsText(sumsOf(texts, language))
  const known = new Set(before.split('\n'))
  for (const line of next.split('\n')) if (!known.has(line)) console.log(`${language}: ${line}`)
  await writeFile(path, next)
}
