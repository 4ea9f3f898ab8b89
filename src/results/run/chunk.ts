import type { RuleId } from '../../knowledge/result-rules.ts'
import type { Found, TestOfResult } from '../problem.ts'
import type { NameBlock } from '../read/name-blocks.ts'

/**
 * What is done with some files of one directory; `previous`: they are of an earlier run, of which only the parameters
 * matter.
 */
export type Work = 'results' | 'containers' | 'sizes' | 'previous'

/** The owner of what was found in a text that cannot be read as a result: whether it is there is not asked. */
export const nobody = 0xffff_ffff

/** Some files of one directory. Plain data, as what follows: it is sent to threads. */
export interface Chunk {
  work: Work
  directory: string
  names: NameBlock
}

/** What is wanted of all chunks. */
export interface Wish {
  /** rules that are not judged */
  off: readonly RuleId[]
  /** names of parameters that may change */
  changing: readonly string[]
  /** there is an earlier run, so that the values of parameters are compared */
  isCompared: boolean
  /**
   * hashes of what an earlier run had of parameters with their values, in ascending order; in memory that threads share
   */
  before: Float64Array
}

/** What was found in a chunk; `at` and `owners` are the numbers of files in it. Numbers are hashes. */
export interface Judged {
  bytes: number
  /** of what the service takes results for one by; NaN: it is in no group */
  identities: Float64Array<ArrayBuffer>
  /** of what is named as an attachment in the root */
  sources: Float64Array<ArrayBuffer>
  sourceOwners: Uint32Array<ArrayBuffer>
  /** of the names, without the path, of what is named by a path */
  bases: Float64Array<ArrayBuffer>
  /** of full name and parameter, and of these and the value */
  parameters: Float64Array<ArrayBuffer>
  values: Float64Array<ArrayBuffer>
  parameterOwners: Uint32Array<ArrayBuffer>
  problems: readonly { at: number; rule: RuleId; found: Found; result: TestOfResult | null }[]
  /** how many problems of each rule there are, in the order of the rules */
  counts: Uint32Array<ArrayBuffer>
  unread: readonly { at: number; why: string }[]
  /** what these files name is not all known */
  isPartly: boolean
}
