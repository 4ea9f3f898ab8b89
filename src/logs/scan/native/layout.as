// Where things are in memory. The caller fills the tables (../native.ts).

/** Places in the tables of grams (../needles.ts). */
export const tableSize: i32 = 4096
/** Maximum numbers of needles, of signatures, and of the needles of all grams together. */
export const maxNeedles: i32 = 256
export const maxSignatures: i32 = 32
export const maxEntries: i32 = 4096
/** Maximum bytes of the texts of all needles. */
export const maxTexts: i32 = 16384
/** Maximum bytes of the text that tells samples of a signature apart (../sample.ts), and how many of them are kept. */
export const maxKind: i32 = 100
export const maxSamples: i32 = 3

/** For each place: its gram, another one that has to be there, and how far on that is. */
export const grams = <i32>memory.data(4096 * 4, 16)
export const others = <i32>memory.data(4096 * 4, 16)
export const distances = <i32>memory.data(4096 * 4, 16)
/** For each place: its first entry (u16). An entry is a needle, and the offset of the gram in it (u16 each). */
export const firstEntries = <i32>memory.data(4097 * 2, 16)
export const entries = <i32>memory.data(4096 * 4, 16)

/**
 * A needle in 8 bytes: where its text begins among `texts` (u16), its length, its flags, its signature, and the number
 * of what reads the text at each match (u8 each).
 */
export const needles = <i32>memory.data(256 * 8, 16)
export const texts = <i32>memory.data(16384, 16)
/** Flags: letters match in either case; the text at each match is read; the pattern has more than the text. */
export const ignoresCase: i32 = 1
export const isRead: i32 = 2
export const isPart: i32 = 4

/** What was found of a signature, in 64 bytes: the next ten. */
export const signatures = <i32>memory.data(32 * 64, 16)
export const ofCount: i32 = 0
export const ofUntimed: i32 = 8
export const ofRecords: i32 = 16
export const ofFirstLine: i32 = 24
export const ofFirst: i32 = 32
export const ofLast: i32 = 40
/** Where in the stream the last line with it begins. */
export const ofLine: i32 = 48
/** Number of samples kept (i32), and of stretches of its rate (i32). */
export const ofSamples: i32 = 56
export const ofStretches: i32 = 60
/** What tells its samples apart: a length (i32), and the text. */
export const kindSize: i32 = 104
export const kinds = <i32>memory.data(32 * 3 * 104, 16)

/** Its rate (../tally.ts): milliseconds of a stretch, then which stretches, then their counts (f64 each). */
export const maxStretches: i32 = 512
export const rateSize: i32 = (1 + 2 * 513) * 8
export const rates = <i32>memory.data(32 * (1 + 2 * 513) * 8, 16)

/**
 * Texts that were read (tally.as). For each reader: the record in which it counted names, and which, a bit each (i32
 * each); then its slots, each with a text's length, 0 if free, its name, how often that was counted (i32 each), and the
 * text.
 */
export const mostReaders: i32 = 4
export const mostNames: i32 = 32
export const mostSlots: i32 = 16
export const slotText: i32 = 1024
export const slotSize: i32 = 1024 + 16
export const readers = <i32>memory.data(4 * 8, 16)
export const slots = <i32>memory.data(4 * 16 * (1024 + 16), 16)

/** A hit in 32 bytes: the next five (i32 each), and where in the stream its line begins (f64). */
export const hitSize: i32 = 32
export const hitAt: i32 = 0
/** Index of the needle; -1 if the pattern around it does not match. */
export const hitNeedle: i32 = 4
/** The line; before the block, it begins one byte before it. */
export const hitStart: i32 = 8
export const hitEnd: i32 = 12
export const hitLine: i32 = 16
