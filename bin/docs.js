#!/usr/bin/env node
// Rewrites the generated parts of the documents, and the generated templates, from the built program; --check fails if
// they are stale.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'

const at = (path) => new URL(`../${path}`, import.meta.url)
const read = (path) => readFileSync(at(path), 'utf8')

const { generatedFiles, generatedTables, withGenerated } = await import('../dist/docs.js')
const commands = Object.values(JSON.parse(read('oclif.manifest.json')).commands)
  .filter(({ hidden }) => !hidden)
  .sort((a, b) => a.id.localeCompare(b.id, 'en'))
const schemas = readdirSync(at('src/output/schemas'))
  .filter((name) => name.endsWith('.json'))
  .sort()
const report = read('test/output/golden/doctor-stuck-lock.txt').trimEnd()
const sample = `\`\`\`text\n$ testops-admin doctor\n${report}\n\`\`\``
const texts = { ...generatedTables(commands, JSON.parse(read('bench/results.json')), schemas), sample }

const pages = readdirSync(at('docs'), { recursive: true })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const documents = Object.fromEntries(['README.md', ...pages].map((path) => [path, withGenerated(read(path), texts)]))
const unused = Object.keys(texts).filter(
  (name) => !Object.values(documents).some((text) => text.includes(`<!-- generated: ${name} -->`)),
)
if (unused.length > 0) throw new Error(`no document holds ${unused.join(', ')}`)

for (const [file, text] of Object.entries({ ...generatedFiles(), ...documents })) {
  if (existsSync(at(file)) && read(file) === text) continue
  if (process.argv.includes('--check')) {
    console.error(`${file} is stale: npm run docs`)
    process.exitCode = 1
  } else {
    mkdirSync(new URL('.', at(file)), { recursive: true })
    writeFileSync(at(file), text)
    console.log(`${file} rewritten`)
  }
}
