#!/usr/bin/env node
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const pathOf = (part) => fileURLToPath(new URL(`../${part}`, import.meta.url))
await require('./start.cjs').start({
  about: () => require('../package.json'),
  program: (command) => require('./load.cjs').load(pathOf('dist/main.cjs'), command),
  thread: () => pathOf('dist/logs/scan/worker.js'),
})
