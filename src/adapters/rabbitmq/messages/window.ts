/**
 * how many bytes may be under way, so that neither the broker nor this program runs out of memory over large messages
 */
const budgetBytes = 64 * 1024 * 1024
/** the most messages under way */
const most = 4000
/** how many are asked for while their size is not known */
const first = 16

/** How many messages may be delivered and not yet acknowledged, by the sizes that have been seen. */
export class Window {
  size = first
  #average = 0
  #seen = 0

  /** Whether `size` has changed. */
  saw(bytes: number): boolean {
    this.#seen += 1
    this.#average += (bytes - this.#average) / Math.min(this.#seen, 16)
    const fits = Math.max(1, Math.min(most, Math.floor(budgetBytes / Math.max(this.#average, 1))))
    const isSmaller = fits * 2 <= this.size
    // a few more of them first: one small message says little of the next
    const isLarger = fits >= this.size * 2 && this.#seen >= this.size / 2
    if (!isSmaller && !isLarger) return false
    this.size = fits
    this.#seen = 0
    return true
  }
}
