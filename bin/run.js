#!/usr/bin/env node
import module from 'node:module'

const words = process.argv.slice(2)
if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
  // what installers and pipelines ask most, so nothing else is loaded for it
  const {name, version} = module.createRequire(import.meta.url)('../package.json')
  console.log(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}`)
} else {
  module.enableCompileCache?.()
  const {main} = await import('../dist/main.js')
  await main()
  // all has been printed and closed; a name that is still being looked up must not keep the operator waiting
  setTimeout(() => process.exit(), 1000).unref()
}
