#!/usr/bin/env node
// Rewrites the generated tables of the README, and the generated templates, from the built program; --check fails where they are stale.
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs'

const at = (path) => new URL(`../${path}`, import.meta.url)
const json = (path) => JSON.parse(readFileSync(at(path), 'utf8'))

const {generatedFiles, generatedTables, withGenerated} = await import('../dist/docs.js')
const commands = Object.values(json('oclif.manifest.json').commands)
  .filter(({hidden}) => !hidden)
  .map(({id, summary}) => ({id, summary}))
  .sort((a, b) => a.id.localeCompare(b.id, 'en'))
const sample = readFileSync(at('test/output/golden/doctor-stuck-lock.txt'), 'utf8')
const texts = {...generatedTables(commands, json('bench/results.json')), sample: '```text\n$ testops-admin doctor\n' + sample.trimEnd() + '\n```'}

const files = {...generatedFiles(), 'README.md': withGenerated(readFileSync(at('README.md'), 'utf8'), texts)}
for (const [file, text] of Object.entries(files)) {
  if (existsSync(at(file)) && readFileSync(at(file), 'utf8') === text) continue
  if (process.argv.includes('--check')) {
    console.error(`${file} is stale: npm run docs`)
    process.exitCode = 1
  } else {
    mkdirSync(new URL('.', at(file)), {recursive: true})
    writeFileSync(at(file), text)
    console.log(`${file} rewritten`)
  }
}
