const nobody = 65_534

/** Runs work as an unprivileged user, if this process is root. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid!(nobody)
  try {
    return await work()
  } finally {
    process.seteuid!(0)
  }
}
