// Starts the second thread of scan-logs, which takes as long as loading the program. Without it, the scan starts one.
const { statSync } = require('node:fs')
const { availableParallelism } = require('node:os')

/** Minimum bytes of a log that two threads scan: src/logs/scan/scan-file.ts. */
const large = 64 << 20

/**
 * Returns a thread that waits for its work, if a word names a log that needs it; else null. It keeps no process alive.
 * `program` returns what it runs.
 */
exports.threadFor = (command, words, program) => {
  if (command !== 'scan-logs' || availableParallelism() < 2 || !words.some(isLargeFile)) return null
  const { Worker } = require('node:worker_threads')
  const thread = new Worker(program(), { resourceLimits: { maxYoungGenerationSizeMb: 8 } })
  thread.unref()
  return thread
}

function isLargeFile(word) {
  try {
    const found = statSync(word)
    return found.isFile() && found.size >= large
  } catch {
    return false
  }
}
