import { readFile, readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { doctorJunit } from '../../src/output/doctor/formats.ts'
import { lintJunit } from '../../src/output/lint/junit.ts'
import { directories, several } from './lint/documents.ts'
import { hostile } from './reports.ts'

const schema = new URL('../../src/output/schemas/junit.xsd', import.meta.url)
const golden = new URL('golden/', import.meta.url)

/** What is wrong with a text by the schema that ships with the package. */
async function faultsOf(xml: string): Promise<string[]> {
  const { errors } = await validateXML({
    xml: [{ fileName: 'it.xml', contents: xml }],
    schema: [{ fileName: 'junit.xsd', contents: await readFile(schema, 'utf8') }],
  })
  return errors.map(({ message }) => message)
}

const kept = (await readdir(golden)).filter((name) => name.endsWith('.xml'))

test.each(kept)('%s is as its schema says', async (name) => {
  expect(await faultsOf(await readFile(new URL(name, golden), 'utf8'))).toEqual([])
})

test.each([true, false])('so is whatever is found, warnings that count: %s', async (areWarningsFailures) => {
  const at = new Date('2026-11-22T10:00:00.123Z')
  const texts = [
    ...[several, directories].map((document) => lintJunit(document, { at, areWarningsFailures })),
    doctorJunit(hostile, { exitCode: 1, areWarningsFailures }),
  ]
  expect(await Promise.all(texts.map(faultsOf))).toEqual(texts.map(() => []))
})

test.each([
  ['a case twice', /(<testcase [^>]*>)/, '$1</testcase>$1'],
  ['a number that is none', / tests="\d+"/, ' tests="many"'],
  ['a time in another form', / timestamp="[^"]*"/, ' timestamp="yesterday"'],
  ['an element of its own', /<\/testsuite>/, '<cause /></testsuite>'],
])('%s is not', async (_, found, written) => {
  const text = doctorJunit(hostile, { exitCode: 1, areWarningsFailures: true })
  expect(text).toMatch(found)
  expect(await faultsOf(text.replace(found, written))).not.toEqual([])
})
