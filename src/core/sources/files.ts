import type { Secret } from '../secret.ts'

/** What stands at a path of keys in a YAML file. */
export interface ValueLook {
  /** how many keys of the path are there */
  found: number
  /** the last of these is a map, or the path is there whole */
  isOpen: boolean
  /**
   * of a single value at the end of the path, as it is written, without its quotes; null: not there, nothing, a map or
   * a list
   */
  text: string | null
  /** it is read as a text, and not as a number, a date or the like, which a template may write in another way */
  isText: boolean
  /** of the last key that is there, from 1; null: none is */
  line: number | null
}

/**
 * Files of settings in YAML: a chart's values, a compose file. Paths are absolute. Each method throws USAGE for a file
 * that is missing or none, FORBIDDEN, UNAVAILABLE, and REFUSED with the line for one that cannot be edited safely: not
 * one YAML document, templates, encrypted, not UTF-8, too large.
 */
export interface FilesSource {
  look(file: string, path: readonly string[]): Promise<ValueLook>
  /** the keys of the map at that path; none where there is none */
  keys(file: string, path: readonly string[]): Promise<readonly string[]>
  /**
   * the maps below that path, itself included, in which one of `signs` is found, by their own paths: the outermost
   * first, 20 at most
   */
  places(
    file: string,
    below: readonly string[],
    signs: readonly (readonly string[])[],
  ): Promise<readonly (readonly string[])[]>
  /** what these edits come to. Throws REFUSED where one cannot be made without changing something else */
  edits(file: string, wanted: readonly { path: readonly string[]; to: string | null }[]): Promise<readonly ValueEdit[]>
  /** the lines that change with them, without any around them: they may hold secrets. Throws as `edits` */
  difference(file: string, edits: readonly ValueEdit[]): Promise<string>
  /** a secret that is all that the file holds. Throws USAGE where it is missing or too large, FORBIDDEN, UNAVAILABLE */
  secret(file: string): Promise<Secret>
  /**
   * a compose file and those that it includes, all the way down, it last; `others`: what is on no path of this machine,
   * as it is written
   */
  included(file: string): Promise<{ files: readonly string[]; others: readonly string[] }>
  /**
   * the service that one of a compose file extends, and its file; `file` null: on no path of this machine, `named` as
   * it is written; null: it extends none
   */
  extended(file: string, service: string): Promise<{ service: string; file: string | null; named: string } | null>
  /** what `.env` beside the file gives to a variable; null: nothing */
  variable(file: string, name: string): Promise<string | null>
  /**
   * words in capitals that stand in the file as keys or in texts, comments left out: names of settings are among them
   */
  names(file: string): Promise<readonly string[]>
  /**
   * what `helm template` makes of a chart with the values of these files, in Helm's order, each as it would be with
   * edits; nothing is installed or kept. Throws UNAVAILABLE where there is no helm, REFUSED where it makes nothing of
   * them
   */
  rendered(chart: ChartPlace, files: readonly EditedValues[]): Promise<Rendered>
}

/** Where helm finds a chart. */
export interface ChartPlace {
  /** a folder or an archive, as an absolute path; REPOSITORY/NAME; an address */
  chart: string
  /** null: the newest, or the only one */
  chartVersion: string | null
}

/** Values of a chart, which lie in a file below these keys, and edits that are not made yet. */
export interface EditedValues {
  file: string
  below: readonly string[]
  edits: readonly ValueEdit[]
}

/**
 * What a chart comes to: its objects by `Kind/name`, in which each list of named items is a map by their names, of
 * which a second one is `name#2`.
 */
export type Rendered = Readonly<Record<string, unknown>>

/** One value of a YAML file. Null: not there, or nothing. */
export interface ValueEdit {
  path: readonly string[]
  from: string | null
  to: string | null
  /**
   * which characters of the file that comes to: from `at` on, those of `was` give way to those of `is`; they name no
   * other value
   */
  at: number
  was: string
  is: string
}
