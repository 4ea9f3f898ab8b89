/**
 * The broker's answers to messages, which count from 1. It accepts or refuses them one by one, or all up to one, in any
 * order.
 */
export class Confirms {
  /** The broker has answered all messages up to this one */
  answered = 0
  readonly #ahead = new Set<number>()
  #firstRefused = Infinity

  /** The broker has accepted all messages up to this one */
  get upTo(): number {
    return Math.min(this.answered, this.#firstRefused - 1)
  }

  confirm(tag: number, multiple: boolean): void {
    if (multiple) {
      if (tag > this.answered) this.answered = tag
      for (const early of this.#ahead) if (early <= this.answered) this.#ahead.delete(early)
    } else if (tag > this.answered) this.#ahead.add(tag)
    while (this.#ahead.delete(this.answered + 1)) this.answered += 1
  }

  /** Records a refusal. If it is of several messages, it is assumed to begin with the first unanswered one. */
  refuse(tag: number, multiple: boolean): void {
    this.#firstRefused = Math.min(this.#firstRefused, multiple ? this.answered + 1 : tag)
    this.confirm(tag, multiple)
  }
}
