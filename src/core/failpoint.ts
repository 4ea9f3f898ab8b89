/** A named point at which a test may kill the process. */
export type Failpoint = (name: string) => Promise<void>

/**
 * Returns a failpoint for tests of what a kill leaves behind. TESTOPS_ADMIN_FAILPOINT names the point:
 * `release-lock:released`, `…#2` for the second time. There the process kills itself as `kill -9` would. With `…=stop`
 * it stops itself, so that a test can change the world around it and resume it.
 */
export function failpoints(wanted: string | undefined): Failpoint {
  const [, name, times = '1', how] = /^([^#=]+)(?:#(\d+))?(?:=(stop))?$/.exec(wanted ?? '') ?? []
  if (name === undefined) return async () => undefined
  let left = Number(times)
  return async (reached) => {
    if (reached !== name || --left !== 0) return
    process.kill(process.pid, how === 'stop' ? 'SIGSTOP' : 'SIGKILL')
    // the signal may take effect a moment later
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
