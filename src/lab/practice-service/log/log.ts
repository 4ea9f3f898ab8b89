import { appendFileSync } from 'node:fs'
import type { Clock } from '../machine.ts'

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
function stackTrace(thrown: Throwable): string {
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

/** The service's log, in Spring Boot's plain layout (FIELD-NOTES.md 1.4). `logger` is the full name of a Java class. */
export interface Log {
  debug(logger: string, message: string): void
  info(logger: string, message: string): void
  warn(logger: string, message: string, thrown?: Throwable): void
  error(logger: string, message: string, thrown?: Throwable): void
  /** the same log, written from another thread */
  from(thread: string): Log
}

interface LogOptions {
  write: (text: string) => void
  clock: Clock
  /** IANA name of the JVM's zone */
  timeZone: string
  enabled: LevelFilter
}

export function createLog(options: LogOptions): Log {
  const timestamp = timestamps(options.timeZone)
  const pid = String(process.pid)
  const on = (thread: string): Log => {
    const record = (level: Level, logger: string, message: string, thrown?: Throwable): void => {
      if (!options.enabled(level, logger)) return
      const onThread = `[${thread.slice(-15).padStart(15)}]`
      const head = `${timestamp(options.clock.now())} ${level.padStart(5)} ${pid} --- ${onThread}`
      options.write(
        `${head} ${abbreviated(logger).padEnd(40)} : ${message}\n${thrown ? `\n${stackTrace(thrown)}\n\n` : ''}`,
      )
    }
    return {
      debug: (logger, message) => record('DEBUG', logger, message),
      info: (logger, message) => record('INFO', logger, message),
      warn: (logger, message, thrown) => record('WARN', logger, message, thrown),
      error: (logger, message, thrown) => record('ERROR', logger, message, thrown),
      from: on,
    }
  }
  return on('main')
}

/** Returns a writer that appends at once: a killed service loses no line. Like Logback, ignores a failed write. */
export function fileWriter(file: string): (text: string) => void {
  return (text) => {
    try {
      appendFileSync(file, text)
    } catch {
      return
    }
  }
}

/** Returns a function that formats epoch milliseconds as `2026-11-21 03:04:05.123` in a zone. */
export function timestamps(timeZone: string): (epochMs: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return (epochMs) => `${format.format(epochMs)}.${String((((epochMs % 1000) + 1000) % 1000) | 0).padStart(3, '0')}`
}

/** Shortens a name like Logback's `%-40.40logger{39}`: packages to their first letter, from the left, until it fits. */
export function abbreviated(logger: string): string {
  const parts = logger.split('.')
  for (let i = 0; i < parts.length - 1 && parts.join('.').length > 39; i++) parts[i] = parts[i]!.slice(0, 1)
  return parts.join('.').slice(-40)
}

type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

const order: readonly string[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'OFF']

/** True if a logger writes lines of that level. */
type LevelFilter = (level: Level, logger: string) => boolean

/**
 * Reads `LOGGING_LEVEL_<PACKAGE>` as Spring Boot binds it: the name in lower case with dots is the logger. The longest
 * match counts; without one, the level of `root`, or INFO.
 */
export function levelFilter(environment: Readonly<Record<string, string | undefined>>): LevelFilter {
  const set = Object.entries(environment).flatMap(([name, value]) => {
    const logger = /^LOGGING_LEVEL_(.+)$/.exec(name)?.[1]?.toLowerCase().replaceAll('_', '.')
    const level = value?.trim().toUpperCase() ?? ''
    return logger && order.includes(level) ? [{ logger, level }] : []
  })
  const root = set.find(({ logger }) => logger === 'root')?.level ?? 'INFO'
  set.sort((a, b) => b.logger.length - a.logger.length)
  return (level, logger) => {
    const name = logger.toLowerCase()
    const found = set.find((entry) => name === entry.logger || name.startsWith(`${entry.logger}.`))
    return order.indexOf(level) >= order.indexOf(found?.level ?? root)
  }
}

/** The service cannot start: Spring Boot could not refresh its context. */
export class StartupFailure extends Error {
  override readonly name = 'StartupFailure'

  constructor(
    /** the bean that could not be created */
    readonly bean: string,
    readonly thrown: Throwable,
    /** logged instead of a stack, if Spring Boot has an explanation for people */
    readonly analysis: { description: string; action: string } | null = null,
  ) {
    super(summary(thrown))
  }
}
