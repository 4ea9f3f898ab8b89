/** Numbers in the order in which they were added, eight bytes each. */
export interface Numbers {
  readonly length: number
  add(value: number): void
  addAll(values: Float64Array): void
  /** returns all of them, in a view that the next addition may outdate */
  all(): Float64Array<ArrayBuffer>
}

export function numbers(room = 256): Numbers {
  let kept = new Float64Array(room)
  let length = 0
  const makeRoom = (more: number): void => {
    if (length + more <= kept.length) return
    const wider = new Float64Array(Math.max(kept.length * 2, length + more))
    wider.set(kept.subarray(0, length))
    kept = wider
  }
  return {
    get length() {
      return length
    },
    add(value) {
      if (length === kept.length) makeRoom(1)
      kept[length] = value
      length += 1
    },
    addAll(values) {
      makeRoom(values.length)
      kept.set(values, length)
      length += values.length
    },
    all: () => kept.subarray(0, length),
  }
}
