// Scans parts of a file in a thread of its own: dist/logs/scan/worker.js, which scan-file.ts starts.
import { parentPort, workerData } from 'node:worker_threads'
import { scanParts } from './part-scan.ts'
import type { SharedScan } from './part-scan.ts'

for (const found of scanParts(workerData as SharedScan)) if (found) parentPort!.postMessage(found)
