// Scans a part of a file in a thread of its own: dist/logs/scan/worker.js, which scan-file.ts starts.
import { parentPort, workerData } from 'node:worker_threads'
import { scanPart } from './part-scan.ts'
import type { PartToScan } from './part-scan.ts'

const scan = scanPart(workerData as PartToScan)
let step = scan.next()
while (!step.done) step = scan.next()
parentPort!.postMessage(step.value)
