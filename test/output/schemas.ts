import { readFileSync, readdirSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const folder = new URL('../../src/output/schemas/', import.meta.url)

/** What is wrong with a document by one of the schemas that ship with the package; empty where nothing is. */
export function faultsOf(schema: string, document: unknown): string[] {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strict: true, strictRequired: false })
  formats.default(ajv)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json')))
    ajv.addSchema(JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as object)
  const validate = ajv.getSchema(`${schema}.schema.json`)!
  void validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
