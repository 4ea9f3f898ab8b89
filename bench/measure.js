// Measures wall times of commands in turns, so that a busy moment affects all of them alike.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/**
 * Runs a command and discards its output. Returns milliseconds. Rejects if the exit code is not `expected`. `output:
 * 'pipe'` discards the output here, for a command that does less if it writes to nowhere.
 */
export function time(
  command,
  { env = process.env, cwd, expected = 0, output = 'ignore', during = () => undefined } = {},
) {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(command[0], command.slice(1), { env, cwd, stdio: ['ignore', output, 'pipe'] })
    child.stdout?.resume()
    during(child.pid)
    let errors = ''
    child.stderr.on('data', (chunk) => (errors += chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      const took = performance.now() - started
      if (code === expected) resolve(took)
      else reject(new Error(`${command.join(' ')} ended with ${code}, not ${expected}\n${errors.slice(-2000)}`))
    })
  })
}

/** Returns the most memory, in MB, that a command holds at a time, as Linux counts it. */
export async function peakMemory(command, options) {
  let [most, timer] = [0, undefined]
  const during = (pid) => {
    timer = setInterval(() => {
      try {
        most = Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)?.[1] ?? most)
      } catch {
        // the command has exited
      }
    }, 10)
  }
  try {
    await time(command, { ...options, during })
  } finally {
    clearInterval(timer)
  }
  if (most === 0) throw new Error(`the memory of ${command.join(' ')} is not known`)
  return Math.ceil(most / 1024)
}

/** Returns the median milliseconds of each of the named runs over `rounds`, after one round that does not count. */
export async function inTurns(runs, rounds) {
  const times = Object.fromEntries(Object.keys(runs).map((name) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, run] of Object.entries(runs)) {
      const took = await run()
      if (round > 0) times[name].push(took)
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]))
}

export function median(list) {
  const sorted = [...list].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
