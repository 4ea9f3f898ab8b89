#!/usr/bin/env node
// Rewrites the generated tables of the README from the built program; --check fails where they are stale.
import {readFileSync, writeFileSync} from 'node:fs'

const at = (path) => new URL(`../${path}`, import.meta.url)
const json = (path) => JSON.parse(readFileSync(at(path), 'utf8'))

const {generatedTables, withGenerated} = await import('../dist/docs.js')
const commands = Object.values(json('oclif.manifest.json').commands)
  .filter(({hidden}) => !hidden)
  .map(({id, summary}) => ({id, summary}))
  .sort((a, b) => a.id.localeCompare(b.id, 'en'))
const sample = readFileSync(at('test/output/golden/doctor-stuck-lock.txt'), 'utf8')
const texts = {...generatedTables(commands, json('bench/results.json')), sample: '```text\n$ testops-admin doctor\n' + sample.trimEnd() + '\n```'}

const before = readFileSync(at('README.md'), 'utf8')
const after = withGenerated(before, texts)
if (process.argv.includes('--check')) {
  if (before !== after) {
    console.error('README.md is stale: npm run docs')
    process.exitCode = 1
  }
} else if (before !== after) {
  writeFileSync(at('README.md'), after)
  console.log('README.md rewritten')
}
