import type { Suggestion } from '../../../core/shell-command.ts'

/** Why messages are not moved; `command` shows the operator more of it. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly command: Suggestion,
  ) {
    super(message)
  }
}
