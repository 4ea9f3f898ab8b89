export type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

const order: readonly string[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'OFF']

/** True if a logger writes lines of that level. */
export type LevelFilter = (level: Level, logger: string) => boolean

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
