#!/usr/bin/env node
import { createRequire } from 'node:module'
import { delimiter, isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const words = process.argv.slice(2)
if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
  // installers and pipelines ask for this most, so nothing else is loaded for it
  const { name, version } = require('../package.json')
  console.log(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}`)
} else {
  // with DEBUG, libraries print what they send, even passwords
  delete process.env.DEBUG
  // an empty or relative part means the current folder, where others may be able to write
  const absolute = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter)
  if (absolute === '') delete process.env.PATH
  else process.env.PATH = absolute
  const { load } = require('./load.cjs')
  const command = words.some((word) => word === '--help' || word === '-h') ? 'help' : words[0]
  const thread = require('./thread.cjs').threadFor(command, words)
  const { main, keep, offerThread } = load(
    fileURLToPath(new URL('../dist/main.cjs', import.meta.url)),
    command ?? 'help',
  )
  offerThread(thread)
  await main()
  if ([0, 1, 2, 3].includes(process.exitCode ?? 0)) keep()
  // waits until the reader has taken what is printed, as long as that takes
  for (const stream of [process.stdout, process.stderr])
    if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve))
  // everything has been closed; what still waits for others must not keep the operator waiting
  setTimeout(() => process.exit(), 100).unref()
}
