import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Compared, FilesControl } from '../../core/controls.ts'
import { secretIn } from '../../core/secret.ts'
import type { FilesSource, ValueEdit } from '../../core/sources.ts'
import { composeFilesIn, extendedBy } from '../compose-file.ts'
import { plainFile } from '../open-file.ts'
import { assertReplaceable, replaceFile } from '../replace-file.ts'
import { keysAt, parsedYaml, placesIn, valueAt } from '../yaml/look.ts'
import type { ParsedYaml } from '../yaml/look.ts'
import { bytesOf, lookedAt, mostBytes, orRefused, planEdits, revertEdits, settingsFiles, watchFiles } from './edits.ts'
import { own } from '../../core/lookup.ts'
import { renderChart } from './render.ts'
import type { HelmOptions } from './render.ts'

/** milliseconds, as `--timeout` has by default */
const usualMs = 10_000

interface FilesOptions {
  /** Milliseconds for parsing or editing a file's text, or for helm; by default, those of `--timeout` */
  timeoutMs?: number
}

export function filesSource({
  timeoutMs = usualMs,
  ...program
}: FilesOptions & Omit<HelmOptions, 'timeoutMs'> = {}): FilesSource {
  const watch = watchFiles(timeoutMs)
  const read = settingsFiles(watch)
  return {
    look: async (file, path) => lookedAt(file, await read(file), path),
    async keys(file, path) {
      const parsed = await read(file)
      return orRefused(file, () => keysAt(parsed, path))
    },
    async places(file, below, signs) {
      const parsed = await read(file)
      return watch(file, () => orRefused(file, () => placesIn(parsed, below, signs)))
    },
    async edits(file, wanted) {
      const { text } = await read(file)
      return watch(file, () => planEdits(file, text, wanted).edits)
    },
    async difference(file, edits) {
      const { text } = await read(file)
      return differenceOf(
        text,
        watch(file, () => planEdits(file, text, edits).text),
      )
    },
    async included(file) {
      const { files, others } = await composeFilesIn([file], dirname(file), async (path) => (await read(path)).value)
      return { files: files.map(({ path }) => path), others }
    },
    async extended(file, service) {
      // assumes that relative paths start at the file's own folder, even if another file includes it with a different
      // one
      const extended = extendedBy(serviceIn((await read(file)).value, service), dirname(file))
      return (
        extended && {
          service: extended.service,
          file: extended.named === null ? file : extended.file,
          named: extended.named ?? file,
        }
      )
    },
    secret: async (file) => secretIn((await bytesOf(file)).toString('utf8')),
    async variable(file, name) {
      const text = await plainFile(join(dirname(file), '.env'), mostBytes).then(String, () => '')
      return own(parseEnv(text), name) ?? null
    },
    names: async (file) => namesIn((await read(file)).value),
    async rendered(chart, files) {
      const values: string[] = []
      for (const { file, below, edits } of files) {
        const { text } = await read(file)
        values.push(
          watch(file, () =>
            orRefused(file, () => valuesText(edits.length === 0 ? text : planEdits(file, text, edits).text, below)),
          ),
        )
      }
      return renderChart(
        chart,
        values,
        files.map(({ file }) => file),
        { timeoutMs, ...program },
      )
    },
  }
}

/** Returns a part of a text for Helm, as JSON: YAML has all of JSON. */
function valuesText(text: string, below: readonly string[]): string {
  return below.length === 0 ? text : JSON.stringify(valueAt(parsedYaml(text), below) ?? {})
}

function serviceIn(value: unknown, service: string): unknown {
  return own((value as { services?: Record<string, unknown> | null } | null)?.services, service)
}

export function filesControl({ timeoutMs = usualMs }: FilesOptions = {}): FilesControl {
  const watch = watchFiles(timeoutMs)
  const read = settingsFiles(watch)
  const tried = async (
    file: string,
    edits: readonly ValueEdit[],
    make: (file: string, text: string, edits: readonly ValueEdit[]) => unknown,
  ): Promise<Compared> => {
    const is = await read(file)
    if (!isAsSeen(file, is, edits)) return 'changed'
    watch(file, () => make(file, is.text, edits))
    await assertReplaceable(file)
    return 'set'
  }
  return {
    async apply(file, edits) {
      const { bytes, ...is } = await read(file)
      if (!isAsSeen(file, is, edits)) return 'changed'
      return replaced(
        file,
        bytes,
        watch(file, () => planEdits(file, is.text, edits).text),
      )
    },
    async takeBack(file, edits) {
      const { bytes, ...is } = await read(file)
      if (!isAsSeen(file, is, edits)) return 'changed'
      return replaced(
        file,
        bytes,
        watch(file, () => revertEdits(file, is.text, edits)),
      )
    },
    try: async (file, edits) => tried(file, edits, planEdits),
    tryBack: async (file, edits) => tried(file, edits, revertEdits),
  }
}

function isAsSeen(file: string, is: ParsedYaml, edits: readonly ValueEdit[]): boolean {
  return edits.every(({ path, from, to }) => {
    const { text: now } = lookedAt(file, is, path)
    return now === from || now === to
  })
}

async function replaced(file: string, from: Buffer, text: string): Promise<Compared> {
  const to = Buffer.from(text, 'utf8')
  if (to.equals(from)) return 'set'
  return (await replaceFile(file, { from, to })) ? 'set' : 'changed'
}

/** more names than any file that people wrote has */
const mostNames = 5000

/** Lists words in capitals with an underscore that are keys or are in texts. */
function namesIn(value: unknown): string[] {
  const names = new Set<string>()
  const within = (it: unknown): void => {
    if (names.size >= mostNames) return
    if (typeof it === 'string')
      for (const [name] of it.matchAll(/(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*_[A-Z0-9_]*(?![A-Za-z0-9_])/g)) names.add(name)
    if (typeof it !== 'object' || it === null) return
    for (const [key, inner] of Object.entries(it)) {
      within(key)
      within(inner)
    }
  }
  within(value)
  return [...names]
}

/**
 * Returns the lines that differ, marked - and +, without context. If a line has several values, shows only the part
 * that changes, since its neighbours may be secrets.
 */
async function differenceOf(before: string, after: string): Promise<string> {
  const { diffLines } = await import('diff')
  // a last line that gains a line end is the same to its reader
  const changes = diffLines(closed(before), closed(after)).filter(({ added, removed }) => added || removed)
  const lines: string[] = []
  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index]!
    const next = changes[index + 1]
    const [old, now] = change.removed
      ? [linesOf(change.value), next?.added ? linesOf(next.value) : []]
      : [[], linesOf(change.value)]
    if (change.removed && next?.added) index += 1
    const pairs = old.map((line, at) => narrowed(line, now[at] ?? ''))
    lines.push(
      ...pairs.map(([was]) => `- ${was}`),
      ...now.map((line, at) => `+ ${pairs[at]?.[1] ?? narrowed('', line)[1]}`),
    )
  }
  return lines.map((line) => `${line}\n`).join('')
}

function closed(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/)
}

/**
 * Returns both lines without what they share on either side, up to the next comma or bracket, if they show a map or a
 * list on one line. Otherwise returns both unchanged.
 */
function narrowed(was: string, is: string): [string, string] {
  if (!/[[{]/.test((was + is).replaceAll(/\$\{[^}]*(\}|$)/g, (_, end) => (end === '' ? '{' : '')))) return [was, is]
  let from = 0
  while (from < Math.min(was.length, is.length) && was[from] === is[from]) from += 1
  const start = Math.max(was.slice(0, from).search(/(?<![^,[{])[^,[{]*$/), 0)
  let end = 0
  while (end < Math.min(was.length, is.length) - from && was.at(-1 - end) === is.at(-1 - end)) end += 1
  const middle = (line: string): string => line.slice(from, line.length - end)
  // an entry that came or went whole ends with its comma
  const isWhole = [was, is].some((line) => /,\s*$/.test(middle(line)))
  const tail = isWhole ? 0 : (/^[^,\]}]*/.exec(was.slice(was.length - end))?.[0].length ?? 0)
  const part = (line: string): string => {
    const shown = line
      .slice(start, line.length - end + tail)
      .replace(/,\s*$/, '')
      .trim()
    return shown === '' ? '…' : `${start > 0 ? '…' : ''}${shown}${end > tail ? '…' : ''}`
  }
  return [part(was), part(is)]
}
