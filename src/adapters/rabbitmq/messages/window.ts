/** bytes that may be under way, so that large messages do not exhaust the memory of the broker or this program */
const budgetBytes = 64 * 1024 * 1024
/** the most messages under way */
const most = 4000
/** messages requested while their size is unknown */
const first = 16

/** The number of messages that may be unacknowledged, by the sizes seen so far. */
export class Window {
  size = first
  #average = 0
  #seen = 0

  /** Records the size of a message. Returns true if `size` has changed. */
  saw(bytes: number): boolean {
    this.#seen += 1
    this.#average += (bytes - this.#average) / Math.min(this.#seen, 16)
    const fits = Math.max(1, Math.min(most, Math.floor(budgetBytes / Math.max(this.#average, 1))))
    const isSmaller = fits * 2 <= this.size
    // only after several: one small message says little about the next
    const isLarger = fits >= this.size * 2 && this.#seen >= this.size / 2
    if (!isSmaller && !isLarger) return false
    this.size = fits
    this.#seen = 0
    return true
  }
}
