import type { Secret } from '../secret.ts'

/** The value at a path of keys in a YAML file. */
export interface ValueLook {
  /** How many keys of the path exist */
  found: number
  /** True if the last of these is a map, or if the whole path exists */
  isOpen: boolean
  /** What is at the last key that exists; `empty`: nothing, or YAML's null */
  kind: 'map' | 'list' | 'single' | 'empty'
  /**
   * A single value at the end of the path, as it is written, without its quotes; null: missing, empty, a map or a list
   */
  text: string | null
  /** True if it is read as text, and not as a number, a date or the like. A template may write those in another way */
  isText: boolean
  /** Line of the last key that exists, from 1; null: none does */
  line: number | null
}

/**
 * Files of settings in YAML: a chart's values, a compose file. Paths are absolute. Each method throws USAGE for a path
 * that is missing or no file, FORBIDDEN, UNAVAILABLE. It throws REFUSED with the line for a file that cannot be edited
 * safely: not one YAML document, templates, encrypted, not UTF-8, too large.
 */
export interface FilesSource {
  look(file: string, path: readonly string[]): Promise<ValueLook>
  /** Returns the keys of the map at that path; empty if there is no map */
  keys(file: string, path: readonly string[]): Promise<readonly string[]>
  /**
   * Returns the paths of the maps below that path, itself included, in which one of `signs` is found: the outermost
   * first, 20 at most
   */
  places(
    file: string,
    below: readonly string[],
    signs: readonly (readonly string[])[],
  ): Promise<readonly (readonly string[])[]>
  /** Returns what these edits change. Throws REFUSED if one cannot be made without changing something else */
  edits(file: string, wanted: readonly { path: readonly string[]; to: string | null }[]): Promise<readonly ValueEdit[]>
  /** Returns the lines that change, without any around them, which may hold secrets. Throws as `edits` */
  difference(file: string, edits: readonly ValueEdit[]): Promise<string>
  /** Returns a secret that fills the whole file. Throws USAGE if it is missing or too large, FORBIDDEN, UNAVAILABLE */
  secret(file: string): Promise<Secret>
  /**
   * Returns a compose file and all that it includes, directly or not, itself last; `others`: what is on no path of this
   * machine, as it is written
   */
  included(file: string): Promise<{ files: readonly string[]; others: readonly string[] }>
  /**
   * Returns the service that one of a compose file extends, and its file; null: it extends none. `file` null: on no
   * path of this machine; `named`: the file as it is written
   */
  extended(file: string, service: string): Promise<{ service: string; file: string | null; named: string } | null>
  /** Returns what `.env` beside the file gives to a variable; null: nothing */
  variable(file: string, name: string): Promise<string | null>
  /**
   * Returns words in capitals that are keys or in texts of the file, comments left out: names of settings are among
   * them
   */
  names(file: string): Promise<readonly string[]>
  /**
   * Returns what `helm template` makes of a chart with the values of these files, in Helm's order, each with its edits;
   * installs and keeps nothing. Throws UNAVAILABLE if there is no helm, REFUSED if it makes nothing of them
   */
  rendered(chart: ChartPlace, files: readonly EditedValues[]): Promise<Rendered>
}

/** Where helm finds a chart. */
export interface ChartPlace {
  /** A folder or an archive, as an absolute path; REPOSITORY/NAME; an address */
  chart: string
  /** Null: the newest, or the only one */
  chartVersion: string | null
}

/** Values of a chart, below these keys of a file, and edits that are not made yet. */
export interface EditedValues {
  file: string
  below: readonly string[]
  edits: readonly ValueEdit[]
}

/**
 * The objects of a chart by `Kind/name`. A list of named items becomes a map by their names, in which a second item of
 * one name is `name#2`.
 */
export type Rendered = Readonly<Record<string, unknown>>

/** A change of one value in a YAML file. Null: missing or empty. */
export interface ValueEdit {
  path: readonly string[]
  from: string | null
  to: string | null
  /** The characters of the file that change: from `at` on, `is` replaces `was`. They belong to no other value */
  at: number
  was: string
  is: string
}
