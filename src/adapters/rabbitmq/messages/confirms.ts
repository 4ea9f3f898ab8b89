/**
 * What the broker has said of messages, which count from 1: it takes or refuses them one by one or all up to one, in
 * any order.
 */
export class Confirms {
  /** of all up to this one it has said something */
  answered = 0
  readonly #ahead = new Set<number>()
  #firstRefused = Infinity

  /** it has taken all up to this one */
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

  /** Of several, the first is taken to be the first that nothing had been said of. */
  refuse(tag: number, multiple: boolean): void {
    this.#firstRefused = Math.min(this.#firstRefused, multiple ? this.answered + 1 : tag)
    this.confirm(tag, multiple)
  }
}
