// Compiles the texts of `explain`, one file for each entry under explain/, into one module wherever the sources are
// bundled or run. At run time there is no file to read, and nothing to check.
import { readFileSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { build } from 'esbuild'
import { YamlProblem, locatedYaml } from './located-yaml.js'
import { compiledTranslations, wrongTranslations } from './translations.js'

/** Path of the import that stands for all texts. */
export const textsModule = /[\\/]explain[\\/]index\.yaml$/

/** Everything that is wrong with the texts. `problems`: each with its file and place. */
export class WrongTexts extends Error {
  constructor(problems) {
    super(problems.map(({ file, line, column, text }) => `${file}:${line}:${column}: ${text}`).join('\n'))
    this.problems = problems
  }
}

/** Returns the module that an import of explain/index.yaml stands for. Throws `WrongTexts`. */
export async function compileTexts(path) {
  const { translations, ...lists } = await readTexts(dirname(path))
  return sourceOf(lists)
}

/** Returns the texts of that folder as `checkedTexts` does. Throws `WrongTexts`. */
export async function readTexts(folder) {
  return checkedTexts(await filesIn(folder), await factsOf(dirname(folder)))
}

let whole
/** Returns what `readTexts` does, read once: several bundles contain the texts, and one file for each language. */
export async function textsOnce(folder) {
  return (whole ??= readTexts(folder))
}

/** Plugin for esbuild that compiles the texts. */
export const explainTexts = {
  name: 'explain-texts',
  setup({ onLoad }) {
    onLoad({ filter: textsModule }, async ({ path }) => {
      try {
        const { translations, ...lists } = await textsOnce(dirname(path))
        return { contents: sourceOf(lists), loader: 'js' }
      } catch (error) {
        if (!(error instanceof WrongTexts)) throw error
        const root = dirname(dirname(path))
        return {
          errors: error.problems.map(({ file, line, column, text }) => {
            const lineText = readFileSync(join(root, file), 'utf8').split('\n')[line - 1] ?? ''
            return { text, location: { file, line, column: column - 1, lineText } }
          }),
        }
      }
    })
  },
}

const kinds = { checks: 'check', faults: 'fault', signatures: 'signature', terms: 'term' }
/** Maximum bytes of an entry: many times those of the longest one. */
const mostBytes = 100_000

/**
 * Returns the texts of these files, each list in the order of display, and `translations`: what is loaded for each
 * other language. `facts`: what the program itself knows by name, in its own order. Throws `WrongTexts`.
 */
export function checkedTexts(files, facts) {
  const problems = []
  const entries = []
  const siblings = []
  let index = null
  for (const { path, bytes } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const named = nameIn(path)
    try {
      if (named === null) throw new YamlProblem(misnamed)
      if (['schema', 'sums'].includes(named.kind)) continue
      const entry = { ...named, file: path, ...readEntry(bytes, shapeOf(named)) }
      if (named.kind === 'index') index = entry
      else if (named.language !== undefined) siblings.push(entry)
      else entries.push(entry)
    } catch (error) {
      if (!(error instanceof YamlProblem) && !(error instanceof WrongShape)) throw error
      for (const { message: text, line, column } of error.places ?? [error])
        problems.push({ file: path, line, column, text })
    }
  }
  if (index === null && problems.length === 0)
    problems.push({ file: 'explain/index.yaml', line: 1, column: 1, text: 'is missing' })
  // references to a file that is wrong itself are not to blame
  if (problems.length === 0)
    problems.push(...wrongReferences(entries, index, facts), ...wrongTranslations(siblings, entries))
  if (problems.length > 0) throw new WrongTexts(problems)
  const listed = (kind, ids) => {
    const own = new Map(entries.filter((it) => it.kind === kind).map((it) => [it.id, it.value]))
    return ids.filter((id) => own.has(id)).map((id) => textOf(kind, id, own.get(id)))
  }
  return {
    checkTexts: listed('check', facts.checks),
    faultTexts: listed('fault', index.value.faults),
    signatureTexts: listed('signature', facts.signatures),
    termTexts: listed('term', index.value.terms),
    translations: compiledTranslations(siblings),
  }
}

function textOf(kind, id, { remedies, ...rest }) {
  if (kind === 'signature') return { id, ...rest }
  return {
    id,
    kind,
    ...rest,
    ...(remedies && { remedies: remedies.map(({ text, commands = [] }) => ({ text, commands })) }),
  }
}

const misnamed =
  'is no entry: there are checks/AREA/NAME.yaml, faults/ID.yaml, signatures/ID.yaml and terms/ID.yaml, with ' +
  'words in lower case joined by -; and ID.LANGUAGE.yaml beside each, with two letters'

/** Returns what a file's path stands for; null if nothing. `language`: it translates the file without that part. */
function nameIn(path) {
  if (path === 'explain/index.yaml') return { kind: 'index' }
  if (path === 'explain/schema.json') return { kind: 'schema' }
  const [, name, of] = /^explain\/(?:(program)\.([a-z]{2})|[a-z]{2}\.sums)\.yaml$/.exec(path) ?? [null, null]
  if (name !== null) return name === undefined ? { kind: 'sums' } : { kind: 'program', id: 'program', language: of }
  const word = '[a-z0-9]+(?:-[a-z0-9]+)*'
  const pattern = new RegExp(`^explain/(\\w+)/((?:${word}/)?${word})(?:\\.([a-z]{2}))?\\.yaml$`)
  const [, folder, id, language] = pattern.exec(path) ?? []
  const kind = Object.hasOwn(kinds, folder ?? '') ? kinds[folder] : null
  return kind !== null && id.includes('/') === (kind === 'check') ? { kind, id, language } : null
}

/** Returns the name of the shape in the schema. */
function shapeOf({ kind, language }) {
  if (language === undefined || kind === 'program') return kind
  return kind === 'signature' ? 'translatedSignature' : 'translatedEntry'
}

/** What does not fit the schema, place by place. */
class WrongShape extends Error {
  constructor(places) {
    super('does not fit explain/schema.json')
    this.places = places
  }
}

function readEntry(bytes, kind) {
  if (bytes.length > mostBytes) throw new YamlProblem(`has ${bytes.length} bytes, more than ${mostBytes}`)
  const { value, placeOf } = locatedYaml(decoded(bytes))
  const validate = validatorOf(kind)
  if (validate(value)) return { value, placeOf }
  const found = validate.errors.flatMap((error) => {
    const told = saidOf(error)
    return told === null ? [] : [{ message: told.text, ...placeOf(told.path) }]
  })
  throw new WrongShape(
    found.filter((it, at) => at === found.findIndex((other) => other.message === it.message && other.line === it.line)),
  )
}

function decoded(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new YamlProblem('is not in UTF-8')
  }
}

let schemas
function validatorOf(kind) {
  if (!schemas) {
    schemas = new Ajv2020({ allErrors: true, verbose: true, strictRequired: false, strictTypes: false })
    schemas.addSchema(JSON.parse(readFileSync(new URL('../explain/schema.json', import.meta.url), 'utf8')), 'texts')
  }
  return schemas.getSchema(`texts#/$defs/${kind}`)
}

/** Explains an error of the validator to people; null if another one says the same. */
function saidOf({ keyword, instancePath, params, parentSchema, data, message }) {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((it) => it.replaceAll('~1', '/').replaceAll('~0', '~'))
  const name = path.filter((it) => !/^\d+$/.test(it)).at(-1) ?? 'the file'
  switch (keyword) {
    case 'if':
      return null
    case 'additionalProperties':
      return { path: [...path, params.additionalProperty], text: `unknown key ${params.additionalProperty}` }
    case 'false schema':
      return { path, text: `unknown key ${name}` }
    case 'required':
      return { path, text: `${params.missingProperty} is missing` }
    case 'dependentRequired':
      return {
        path: [...path, params.property],
        text: `${params.property} means nothing without ${params.missingProperty}`,
      }
    case 'type':
      return {
        path,
        text: `${name} has to be ${shown(params.type)}, and is ${data === null ? empty : shown(typeOf(data))}`,
      }
    case 'pattern':
      return { path, text: data === '' ? `${name} is empty` : `${name} has to be ${parentSchema.description}` }
    case 'enum':
      return { path, text: `${name} has to be ${params.allowedValues.join(' or ')}` }
    case 'minItems':
      return { path, text: `${name} is empty` }
    case 'uniqueItems':
      return { path: [...path, params.i], text: `${name} says the same twice` }
    default:
      return { path, text: `${name} ${message}` }
  }
}

const empty = 'empty (what begins with # is a comment, unless in quotes)'

function typeOf(data) {
  return Array.isArray(data) ? 'array' : typeof data
}

function shown(type) {
  return { array: 'a list', object: 'a mapping', string: 'a text', integer: 'a number' }[type] ?? `a ${type}`
}

function wrongReferences(entries, index, { checks, signatures, readers }) {
  const problems = []
  const report = ({ file, placeOf }, path, text) => problems.push({ file, ...placeOf(path), text })
  const byId = new Map()
  for (const entry of entries) {
    const other = byId.get(entry.id)
    if (other) report(entry, [], `has the id of ${other.file}`)
    else byId.set(entry.id, entry)
  }
  const idsOf = (kind) => entries.filter((it) => it.kind === kind).map(({ id }) => id)
  const claimed = new Map()
  const claim = (entry, path, what) => {
    const other = claimed.get(what)
    if (other) report(entry, path, `${other.file} claims the same`)
    else claimed.set(what, entry)
  }
  const each = (entry, key, visit) => (entry.value[key] ?? []).forEach((it, at) => visit(it, [key, at]))

  for (const entry of entries) {
    const { id, kind, value } = entry
    if (kind === 'check' && !checks.includes(id)) report(entry, [], `no check of src/checks/index.ts is ${id}`)
    if (kind === 'signature' && !signatures.includes(id)) report(entry, [], `no signature of src/knowledge is ${id}`)
    if (['fault', 'term'].includes(kind) && !index.value[`${kind}s`].includes(id))
      report(entry, [], `explain/index.yaml does not list it`)
    for (const key of ['of', 'behind'])
      if (value[key] !== undefined && !byId.has(value[key])) report(entry, [key], `no entry is ${value[key]}`)
    const base = byId.get(value.of)
    if (base?.value.of !== undefined) report(entry, ['of'], `${value.of} refers to ${base.value.of} itself`)
    else if (base?.kind === 'signature') report(entry, ['of'], `${value.of} is a line of a log`)
    else if (base)
      each(entry, 'fitting', (it, path) => {
        if (it >= base.value.remedies.length)
          report(entry, path, `${value.of} has ${base.value.remedies.length} remedies, from 0 on`)
      })
    each(entry, 'see', (it, path) => {
      if (!byId.has(it)) report(entry, path, `no entry is ${it}`)
      else if (it === id || it === value.of) report(entry, path, `it refers to ${it} anyway`)
    })
    each(entry, 'signatures', (it, path) => {
      if (!signatures.includes(it)) report(entry, path, `no signature of src/knowledge is ${it}`)
    })
    if (value.reader !== undefined && !readers.includes(value.reader))
      report(entry, ['reader'], `no reader of src/knowledge/explain/readers.ts is ${value.reader}`)
    each(entry, 'patterns', (it, path) => {
      try {
        new RegExp(it)
      } catch (error) {
        report(entry, path, error.message)
      }
      claim(entry, path, `pattern ${it}`)
    })
    each(entry, 'messages', (it, path) => claim(entry, path, `message ${it}`))
    each(entry, 'names', (it, path) => {
      if (byId.has(it.toLowerCase())) report(entry, path, `it is the id of ${byId.get(it.toLowerCase()).file}`)
      claim(entry, path, `name ${it.toLowerCase()}`)
    })
  }
  for (const kind of ['fault', 'term'])
    each(index, `${kind}s`, (it, path) => {
      if (!idsOf(kind).includes(it)) report(index, path, `explain/${kind}s/${it}.yaml is missing`)
    })
  const lacking = [
    ...checks.filter((id) => byId.get(id)?.kind !== 'check').map((id) => `explain/checks/${id}.yaml is missing`),
    // a fault may have the same name
    ...signatures.filter((id) => !byId.has(id)).map((id) => `explain/signatures/${id}.yaml is missing`),
  ]
  for (const text of lacking) report(index, [], text)
  return problems
}

/** Reads all files in that folder. */
async function filesIn(folder) {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return Promise.all(
    found
      .filter((it) => !it.isDirectory())
      .map(async ({ parentPath, name }) => {
        const path = join(parentPath, name)
        return { path: `explain/${relative(folder, path).replaceAll('\\', '/')}`, bytes: await readFile(path) }
      }),
  )
}

/** Reads the names that the texts refer to from the sources themselves. */
async function factsOf(root) {
  const { outputFiles } = await build({
    stdin: {
      contents: [
        "export { checks } from './src/checks/index.ts'",
        "export { readers } from './src/knowledge/explain/readers.ts'",
        "export { signatures } from './src/knowledge/signatures.ts'",
      ].join('\n'),
      resolveDir: root,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    logLevel: 'error',
  })
  const { checks, readers, signatures } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  )
  return {
    checks: checks.map(({ id }) => id),
    signatures: signatures.map(({ id }) => id),
    readers: Object.keys(readers),
  }
}

function sourceOf(lists) {
  return Object.entries(lists)
    .map(([name, texts]) => `export const ${name} = [${texts.map(literalOf).join(',\n')}]\n`)
    .join('')
}

function literalOf(text) {
  const values = Object.entries(text).map(([key, value]) =>
    key === 'patterns'
      ? `${key}: [${value.map((it) => `new RegExp(${JSON.stringify(it)})`).join(', ')}]`
      : `${key}: ${JSON.stringify(value)}`,
  )
  return `{ ${values.join(', ')} }`
}
