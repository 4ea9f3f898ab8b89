/** An instant with a name, at which a test may end the process. */
export type Failpoint = (name: string) => Promise<void>

/**
 * For tests of what a kill leaves behind: at the instant that TESTOPS_ADMIN_FAILPOINT names (`release-lock:released`,
 * `…#2` for the second time), the process kills itself as `kill -9` would, or stops itself with `…=stop`, so that a
 * test can change the world around it and let it go on.
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
