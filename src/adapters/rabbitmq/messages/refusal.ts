import type { Suggestion } from '../../../core/shell-command.ts'

/** Explains why messages are not moved; `command` shows the operator more. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly command: Suggestion,
  ) {
    super(message)
  }
}
