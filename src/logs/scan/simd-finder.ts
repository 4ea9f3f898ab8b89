import { anchorLength } from './anchor.ts'
import { formsOf, sought, standsAt } from './finder.ts'
import type { Finder, Hit, Sought } from './finder.ts'
import code from './finder.wat'

/** bytes of a page of memory; where the module notes what it found, where ours begin, and how much it reads past them */
const [page, notes, begin, past] = [65_536, 256, 65_536, 32]
const room = (begin - notes) / 4
const groups = 8

interface Module {
  readonly lineBefore: (from: number, to: number) => number
  readonly find: (from: number, to: number, room: number) => number
  readonly newlines: (from: number, to: number) => number
  readonly reached: { readonly value: number }
}

/** Whether this machine's processor has what the module needs: V8 wants SSE4.1 for it. */
export function hasSimd(): boolean {
  return WebAssembly.validate(code)
}

/** For each byte of an anchor, halves that it may have: `lower` and `upper`, a bit for each value. */
function halvesOf({ text, anchor, ignoreCase }: Sought): number[] {
  return Array.from({ length: anchorLength }, (_, place) => formsOf(text.charCodeAt(anchor + place), ignoreCase)).flatMap((forms) => [
    forms.reduce((bits, form) => bits | (1 << (form & 15)), 0),
    forms.reduce((bits, form) => bits | (1 << (form >> 4)), 0),
  ])
}

/** How many different bytes look like one of these anchors. */
function looks(needles: readonly Sought[]): number {
  const [first, ...others] = needles.map(halvesOf)
  const together = others.reduce((bits, more) => bits.map((it, index) => it | more[index]!), first ?? [])
  return together.reduce((product, bits) => product * bits.toString(2).replaceAll('0', '').length, first ? 1 : 0)
}

/** Needles whose anchors are alike share a group, so that little else looks like one of them. */
const grouped: readonly (readonly Sought[])[] = sought.reduce<Sought[][]>(
  (all, needle) => {
    const more = all.map((group) => looks([...group, needle]) - looks(group))
    all[more.indexOf(Math.min(...more))]!.push(needle)
    return all
  },
  Array.from({ length: groups }, () => []),
)

/** For each byte of an anchor a table by the lower half of a byte, and one by its upper half. */
function tables(): Uint8Array {
  const all = new Uint8Array(anchorLength * 32)
  grouped.forEach((needles, group) => {
    for (const [index, bits] of needles.flatMap((needle) => [...halvesOf(needle).entries()])) {
      for (let half = 0; half < 16; half += 1) if ((bits & (1 << half)) !== 0) all[index * 16 + half]! |= 1 << group
    }
  })
  return all
}

const furthest = Math.max(...sought.map(({ anchor }) => anchor))

/** The finder in WebAssembly, 16 bytes at a time. */
export function simdFinder(size: number): Finder {
  const pages = Math.ceil((begin + size + past) / page)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), { scan: { memory } })
  const { find, lineBefore, newlines, reached } = exports as Module
  const bytes = new Uint8Array(memory.buffer, begin, size)
  const found = new Uint32Array(memory.buffer, notes, room)
  new Uint8Array(memory.buffer).set(tables())

  return {
    bytes,
    find(from, to, end) {
      const hits: Hit[] = []
      const last = Math.min(to + furthest, end)
      for (let next = from; next < last; next = reached.value - begin) {
        const count = find(next + begin, last + begin, room)
        for (let index = 0; index < count; index += 1) {
          const place = (found[index]! >>> 8) - begin
          for (let left = found[index]! & 255; left !== 0; left &= left - 1) {
            for (const needle of grouped[31 - Math.clz32(left & -left)]!) {
              const at = place - needle.anchor
              if (at >= from && at < to && at + needle.text.length <= end && standsAt(bytes, at, needle)) hits.push({ at, needle })
            }
          }
        }
      }
      return { hits: hits.sort((one, other) => one.at - other.at), lines: newlines(from + begin, to + begin) }
    },
    lineBefore(from, to) {
      // before our bytes there are notes, no newline; the first line begins there all the same
      const at = lineBefore(from + begin, to + begin)
      if (at >= 0) return at - begin
      return from === 0 && to > 0 && bytes[0] !== 9 && bytes[0] !== 32 ? 0 : -1
    },
  }
}
