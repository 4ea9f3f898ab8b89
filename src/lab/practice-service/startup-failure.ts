import { summary } from './log/log.ts'
import type { Throwable } from './log/log.ts'

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
