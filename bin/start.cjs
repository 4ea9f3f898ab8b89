// Starts the program, from its files (run.js) or from the one file that holds them all (one-file.cjs).
const { homedir } = require('node:os')
const { delimiter, isAbsolute } = require('node:path')

/**
 * Runs the words of the command line. `parts` says where the program is: `about` returns its package.json, `program`
 * the function that loads it (load.cjs), `thread` the program of the second thread of scan-logs.
 */
exports.start = async ({ about, program, thread }) => {
  const words = process.argv.slice(2)
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
    // installers and pipelines ask for this most, so nothing else is loaded for it
    const { name, version } = about()
    console.log(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}`)
    return
  }
  // with DEBUG, libraries print what they send, even passwords
  delete process.env.DEBUG
  // an empty or relative part means the current folder, where others may be able to write
  const absolute = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter)
  if (absolute === '') delete process.env.PATH
  else process.env.PATH = absolute
  // else oclif asks for the user's entry on this machine, which fails if there is none
  process.env.SHELL ??= '/bin/sh'
  settleHome()
  const command = words.some((word) => word === '--help' || word === '-h') ? 'help' : words[0]
  const spare = require('./thread.cjs').threadFor(command, words, thread)
  const { main, keep, offerThread } = program(command ?? 'help')
  offerThread(spare)
  await main()
  if ([0, 1, 2, 3].includes(process.exitCode ?? 0)) keep()
  // waits until the reader has taken what is printed, as long as that takes
  for (const stream of [process.stdout, process.stderr])
    if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve))
  // everything has been closed; what still waits for others must not keep the operator waiting
  setTimeout(() => process.exit(), 100).unref()
  // Node gives signals up before it ends by itself, and one that came then would take the place of the exit code
  process.once('beforeExit', () => process.exit())
}

/**
 * Makes os.homedir() return an absolute path. An empty HOME would mean the current folder; and without one, a user whom
 * this machine does not know, as in a container, has none.
 */
function settleHome() {
  if (isAbsolute(process.env.HOME ?? '')) return
  delete process.env.HOME
  try {
    homedir()
  } catch {
    process.env.HOME = '/nonexistent'
  }
}
