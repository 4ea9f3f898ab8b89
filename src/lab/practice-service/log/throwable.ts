/** An exception in Java's form. */
export interface Throwable {
  type: string
  message: string | null
  /** `liquibase.lockservice.StandardLockService.waitForLock(StandardLockService.java:276)`, innermost first */
  frames: readonly string[]
  cause?: Throwable
}

export function throwable(
  type: string,
  message: string | null,
  frames: readonly string[],
  cause?: Throwable,
): Throwable {
  return cause ? { type, message, frames, cause } : { type, message, frames }
}

/** Returns `type: message`, such as `java.net.UnknownHostException: host`. */
export function summary({ type, message }: Throwable): string {
  return message === null ? type : `${type}: ${message}`
}

/** Returns the stack trace as Logback prints it, without a final newline. */
export function stackTrace(thrown: Throwable): string {
  const lines = [summary(thrown), ...thrown.frames.map((frame) => `\tat ${frame}`)]
  for (let cause = thrown.cause; cause; cause = cause.cause) {
    lines.push(
      `Caused by: ${summary(cause)}`,
      ...cause.frames.map((frame) => `\tat ${frame}`),
      '\t... 32 common frames omitted',
    )
  }
  return lines.join('\n')
}
