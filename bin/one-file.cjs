// The main script of the one executable file (package.js). The program's other parts lie in it, under their paths in
// the package's folder, and are never written to a disk.
const Module = require('node:module')
const { join } = require('node:path')
const sea = require('node:sea')
const { Script, constants } = require('node:vm')
const { load } = require('./load.cjs')
const { start } = require('./start.cjs')

const ownProgram = '--own-program='
const bytesOf = (part) => Buffer.from(sea.getRawAsset(part))
const urlOf = (part) => new URL(`data:text/javascript;base64,${bytesOf(part).toString('base64')}`)
/** Nothing can lie below a file, so where a library looks for files beside itself, it finds none of anybody's. */
const pathOf = (part) => join(process.execPath, part)

/** Returns Node's own modules and the parts of this file. Throws MODULE_NOT_FOUND for others, whatever a disk holds. */
function requireOwn(name) {
  if (Module.isBuiltin(name)) return require(name)
  const part = join('dist', name)
  if (!isPart(part)) throw Object.assign(new Error(`cannot find module ${name}`), { code: 'MODULE_NOT_FOUND' })
  const module = { exports: {} }
  const script = new Script(Module.wrap(bytesOf(part).toString()), { filename: pathOf(part) })
  script.runInThisContext()(module.exports, requireOwn, module, pathOf(part), pathOf('dist'))
  return module.exports
}

function isPart(part) {
  try {
    sea.getRawAsset(part)
    return true
  } catch {
    return false
  }
}

const [, , first = ''] = process.argv
const part = join('dist', first.slice(ownProgram.length))
const isProgram = part.startsWith('dist/lab/') || part === 'dist/runtime/own-checks/program.js'
if (first.startsWith(ownProgram) && isProgram && isPart(part)) {
  // it reads its own words from the same place as when it is a file
  process.argv.splice(2, 1)
  new Script('(url) => import(url)', { importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })
    .runInThisContext()(urlOf(part))
    .catch((error) => {
      console.error(error)
      process.exitCode = 70
    })
} else {
  void start({
    about: () => JSON.parse(sea.getAsset('package.json', 'utf8')),
    program: (command) =>
      load(pathOf('dist/main.cjs'), command, { bytes: bytesOf('dist/main.cjs'), require: requireOwn }),
    thread: () => urlOf('dist/logs/scan/worker.js'),
  })
}
