import type { Worker } from 'node:worker_threads'

let spare: Worker | null = null

/** Keeps a thread that bin/thread.cjs started, for the first scan that wants one. */
export function offerThread(thread: Worker | null): void {
  spare = thread
  const forget = (): void => {
    spare = null
  }
  thread?.once('error', forget).once('exit', forget)
}

/** Returns the thread that was offered, if it still runs; once. */
export function takeSpareThread(): Worker | null {
  const thread = spare
  spare = null
  return thread?.removeAllListeners() ?? null
}
