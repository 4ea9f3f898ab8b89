// Checks and compiles what translates the texts under explain/: a sibling NAME.LANGUAGE.yaml of an entry, and
// program.LANGUAGE.yaml.
import { createHash } from 'node:crypto'

/** Parts of `program.LANGUAGE.yaml`. */
const programParts = ['help', 'words', 'sentences', 'phrases']

/** Returns what is wrong with translations (`siblings`) of these English entries, each with its file and place. */
export function wrongTranslations(siblings, entries) {
  const english = new Map(entries.map((it) => [`${it.kind} ${it.id}`, it]))
  return siblings.flatMap((sibling) => {
    const { file, placeOf, kind, id, language } = sibling
    const report = (path, text) => ({ file, ...placeOf(path), text })
    if (kind === 'program') return wrongProgram(sibling, report)
    const base = english.get(`${kind} ${id}`)
    if (!base) return [report([], `there is no ${file.replace(`.${language}.`, '.')} that it translates`)]
    return Object.entries(sibling.value).flatMap(([key, own]) => {
      const other = base.value[key]
      // the title of a signature stands in src/knowledge
      if (other === undefined)
        return kind === 'signature' && key === 'title' ? [] : [report([key], `${base.file} has no ${key}`)]
      return Array.isArray(own) && own.length !== other.length
        ? [report([key], `${base.file} has ${other.length} ${key}, and this ${own.length}`)]
        : []
    })
  })
}

function wrongProgram({ value, language }, report) {
  return programParts.flatMap((part) =>
    Object.entries(value[part] ?? {}).flatMap(([from, to]) =>
      flawsOf(from, to, language).map((text) => report([part, from], text)),
    ),
  )
}

const slot = /\{(?:(=?)(\d)|(\d):([^{}]*))\}/g

function flawsOf(from, to, language) {
  const own = [...from.matchAll(slot)].map(([text]) => text)
  if (own.some((text, at) => text !== `{${at + 1}}`)) return ['its values are {1}, {2} and so on, in this order']
  if (/\}\{/.test(from)) return ['something has to stand between two values']
  if (/^[\s{}\d]*$/.test(from)) return ['says nothing but values']
  const carried = new Set([...to.matchAll(slot)].flatMap(([, , number]) => number ?? []))
  const forms = formsOf(language).length
  return [
    ...own.filter((_, at) => !carried.has(String(at + 1))).map((text) => `the translation leaves out ${text}`),
    ...[...to.matchAll(slot)].flatMap(([text, , number, counted, some]) => [
      ...(Number(number ?? counted) > own.length ? [`${text} is no value of the English text`] : []),
      ...(some !== undefined && some.split('|').length !== forms ? [`${text} needs ${forms} forms`] : []),
    ]),
    ...(/[{}]/.test(to.replaceAll(slot, '')) ? ['has a brace that belongs to no value'] : []),
  ]
}

/** Returns the forms of a noun beside whole numbers, as `Intl.PluralRules` names them, in its own order. */
function formsOf(language) {
  const rules = new Intl.PluralRules(language)
  const used = new Set(Array.from({ length: 200 }, (_, number) => rules.select(number)))
  return ['zero', 'one', 'two', 'few', 'many', 'other'].filter((it) => used.has(it))
}

/** Returns, for each language, what the program loads if it speaks it. */
export function compiledTranslations(siblings) {
  const languages = [...new Set(siblings.map(({ language }) => language))].sort()
  return Object.fromEntries(
    languages.map((language) => {
      const own = siblings.filter((it) => it.language === language)
      const program = own.find(({ kind }) => kind === 'program')?.value ?? {}
      const entries = own.filter(({ kind }) => kind !== 'program').map(({ id, value: texts }) => [id, texts])
      return [
        language,
        {
          language,
          forms: formsOf(language),
          entries: Object.fromEntries(entries),
          ...Object.fromEntries(programParts.map((part) => [part, program[part] ?? {}])),
        },
      ]
    }),
  )
}

/** Returns the sum of each English text that a language translates, by id. `lists`: those of `checkedTexts`. */
export function sumsOf({ translations, ...lists }, language) {
  const { entries } = translations[language]
  return Object.fromEntries(
    Object.values(lists)
      .flat()
      .filter(({ id }) => Object.hasOwn(entries, id))
      .map((it) => [it.id, sumOf(it)])
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )
}

function sumOf({ title, meaning, cause, causes, remedies }) {
  const texts = JSON.stringify([title, meaning, cause, causes, remedies?.map(({ text }) => text)])
  return createHash('sha256').update(texts).digest('hex').slice(0, 8)
}

/** Returns what stands in explain/LANGUAGE.sums.yaml. */
export function sumsText(sums) {
  const lines = Object.entries(sums).map(([id, sum]) => `${id}: '${sum}'\n`)
  return `# Made by bin/translated.js: the English texts that each translation was made from.\n${lines.join('')}`
}
