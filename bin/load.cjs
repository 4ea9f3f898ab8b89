// Loads dist/main.cjs with the code that V8 compiled when the same command last ran: compiling it again takes a third
// of the start. Node 22's module.enableCompileCache() keeps no function that is compiled on its first call, and so
// saves half as much; Node 20 has none. NODE_DISABLE_COMPILE_CACHE=1 turns this off too.
const {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs')
const Module = require('node:module')
const { homedir } = require('node:os')
const { dirname, isAbsolute, join } = require('node:path')
const { Script } = require('node:vm')
const { crc32 } = require('node:zlib')

/**
 * Returns the exports of the CommonJS file (ASCII only, already in its function: bin/build.js), and `keep`, which
 * stores its compiled form for the next run of this command. If anything is wrong with what is stored, compiles the
 * file as usual and never throws for it. `within`: the one file holds its bytes, and says what it may require
 * (bin/one-file.cjs).
 */
exports.load = (file, command, within = null) => {
  const { text, sum } = within ? { text: within.bytes.latin1Slice(), sum: crc32(within.bytes) } : read(file)
  // Node has crc32 since 20.15, but not in 22.0
  const store =
    process.env.NODE_DISABLE_COMPILE_CACHE || !crc32 || !/^[a-z][a-z-]{0,30}$/.test(command)
      ? null
      : storeFor(sum, command)
  const stored = store?.read()
  const script = new Script(text, { filename: file, ...(stored && { cachedData: stored.data }) })
  stored?.giveBack()
  const loaded = new Module(file)
  loaded.filename = file
  script.runInThisContext()(loaded.exports, within?.require ?? Module.createRequire(file), loaded, file, dirname(file))
  const stale = stored === undefined || script.cachedDataRejected
  return { ...loaded.exports, keep: () => stale && store?.write(() => script.createCachedData()) }
}

/** Returns a file's text, and its sum. */
function read(file) {
  const descriptor = openSync(file, constants.O_RDONLY)
  try {
    const { bytes, giveBack } = bytesOf(descriptor, file)
    const found = { text: bytes.latin1Slice(), sum: crc32?.(bytes) }
    giveBack()
    return found
  } finally {
    closeSync(descriptor)
  }
}

/** Reads all bytes, for `giveBack` to free: the garbage collector would keep them as long as most commands run. */
function bytesOf(descriptor, file) {
  const { size } = fstatSync(descriptor)
  const memory = new ArrayBuffer(size, { maxByteLength: size })
  const bytes = Buffer.from(memory)
  for (let at = 0; at < size; ) {
    const length = readSync(descriptor, bytes, at, size - at, at)
    if (length === 0) throw new Error(`${file} is shorter than it was`)
    at += length
  }
  return { bytes, giveBack: () => memory.resize(0) }
}

function storeFor(sum, command) {
  const machine = `${command}-${process.version}-${process.arch}-`
  const name = `${machine}${sum.toString(16)}`
  return {
    read() {
      try {
        const { bytes, giveBack } = readOwn(join(folder(), name))
        return { data: checked(bytes, name), giveBack }
      } catch {
        return undefined
      }
    },
    write(data) {
      try {
        const at = folder()
        // step by step: with `recursive`, mkdir never returns in an impossible home, such as /proc/none
        for (const step of [dirname(dirname(at)), dirname(at), at]) make(step)
        const part = join(at, `${machine}part-${process.pid}`)
        // in a container, a process that was killed before may have had the same number
        rmSync(part, { force: true })
        try {
          writeFileSync(part, withSum(data(), name), { flag: 'wx', mode: 0o600 })
          renameSync(part, join(at, name))
        } finally {
          rmSync(part, { force: true })
        }
        for (const other of readdirSync(at))
          if (other.startsWith(machine) && other !== name && !isBeingWritten(join(at, other)))
            rmSync(join(at, other), { force: true })
      } catch {
        // a home that cannot be written costs time, nothing else
      }
    },
  }
}

/** True if it is a part that another process is writing, not one that a kill left there. */
function isBeingWritten(path) {
  return /-part-\d+$/.test(path) && Date.now() - statSync(path).mtimeMs < 60_000
}

function folder() {
  const { XDG_CACHE_HOME: cacheHome = '' } = process.env
  return join(isAbsolute(cacheHome) ? cacheHome : join(homedir(), '.cache'), 'testops-admin', 'compiled')
}

/** Makes a folder, but not in another user's home: its owner could neither use nor remove what root makes there. */
function make(path) {
  if (![0, process.getuid?.() ?? 0].includes(statSync(dirname(path)).uid))
    throw new Error(`${dirname(path)} belongs to somebody else`)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

/**
 * Reads stored code, which runs as it is. Throws if others could have written it: root with a user's HOME, a shared
 * folder. Judges the open file, and the way to it, like configurations. Under sudo, what the calling user wrote is not
 * ours here.
 */
function readOwn(path) {
  const { judgeOpened, ownCircle } = require('../dist/trust.cjs')
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!fstatSync(descriptor).isFile() || judgeOpened(path, descriptor, ownCircle({ sudo: false })).flaws.length > 0)
      throw new Error('written by somebody else')
    return bytesOf(descriptor, path)
  } finally {
    closeSync(descriptor)
  }
}

// V8 checks only the head of what it is given: a page of zeros after a power cut would crash it
function withSum(data, name) {
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(data, crc32(name)))
  return Buffer.concat([data, sum])
}

function checked(bytes, name) {
  const data = bytes.subarray(0, -4)
  if (bytes.length < 4 || bytes.readUInt32LE(data.length) !== crc32(data, crc32(name)))
    throw new Error('not as it was written')
  return data
}
