import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** What is wrong with a document by one of the schemas that ship with the package; empty where nothing is. */
export function faultsOf(schema: string, document: unknown): string[] {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strict: true, strictRequired: false })
  formats.default(ajv)
  const file = new URL(`../../src/output/schemas/${schema}.schema.json`, import.meta.url)
  const validate = ajv.compile(JSON.parse(readFileSync(file, 'utf8')) as object)
  validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
