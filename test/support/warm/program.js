// The program, kept for one command after another: what V8 has compiled stays. Each order comes as a message, and its
// end is marked on both streams. Not for what concerns the process itself: signals, kills, standard input, terminals.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const { load } = require('../../../bin/load.cjs')
const program = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))
const file = fileURLToPath(new URL('../../../dist/main.cjs', import.meta.url))

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'beforeExit']
const umask = process.umask()
let loaded = null
let hasKept = false

process.on('disconnect', () => process.exit())
process.on('message', (order) => void run(order))

async function run({ words, directory, environment, mark }) {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
  process.chdir(directory)
  process.argv = [process.execPath, program, ...words]
  process.exitCode = undefined
  loaded ??= load(file, words[0])
  await loaded.main(words)
  const exitCode = process.exitCode ?? 0
  // once for all commands: what V8 has compiled by then is a fifth of their time to write
  if (exitCode <= 3 && !hasKept) loaded.keep()
  hasKept ||= exitCode <= 3
  process.exitCode = undefined
  process.umask(umask)
  for (const name of signals) process.removeAllListeners(name)
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    await new Promise((resolve) => stream.write(mark, resolve))
  }
  process.send({ exitCode })
}
