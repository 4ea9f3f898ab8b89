// Scans parts of a file in a thread of its own: dist/logs/scan/worker.js, which scan-file.ts or bin/thread.cjs starts.
// The file comes in a message, which may take a while.
import { parentPort } from 'node:worker_threads'
import { scanParts } from './part-scan.ts'
import type { SharedScan } from './part-scan.ts'

parentPort!.once('message', (shared: SharedScan) => {
  for (const found of scanParts(shared)) if (found) parentPort!.postMessage(found)
})
