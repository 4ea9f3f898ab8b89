import { grouped } from '../../core/grouped.ts'
import { badge } from '../doctor/status.ts'
import { paintFor } from '../paint.ts'
import type { Screen } from '../screen.ts'
import { clip, pad, printable } from '../text.ts'
import type { ScanDocument, ScanMatch } from './document.ts'
import { at } from './words.ts'
import { own } from '../../core/own.ts'

/** Returns what is new since an earlier document, a line for each signature: for a log that somebody reads later. */
export function scanChanges(document: ScanDocument, before: ScanDocument | null): string[] {
  return document.matches.flatMap((match) => {
    const known = before?.matches.find(({ signature }) => signature === match.signature)
    if (known?.count === match.count) return []
    const more = match.count - (known?.count ?? 0)
    const count = known === undefined ? grouped(match.count) : `${grouped(match.count)} (+${grouped(more)})`
    const newHosts = Object.keys(match.hosts ?? {}).filter((name) => own(known?.hosts, name) === undefined)
    const shown =
      newHosts.length > 0 ? newHosts.slice(0, 3).join(', ') : known === undefined ? (match.samples[0] ?? '') : ''
    return [
      `${match.last === undefined ? 'time unknown' : at(match.last)}  ${printable(`${match.severity} ${match.signature}`)} ${count}${shown === '' ? '' : `  ${printable(shown)}`}`,
    ]
  })
}

/** Returns the findings so far for a terminal of `rows` rows; each line takes one row. */
export function scanRows(document: ScanDocument, screen: Screen, rows: number): string[] {
  const paint = paintFor({ ...screen, colour: false })
  const width = Math.max(0, ...document.matches.map(({ signature }) => signature.length))
  const lines = document.matches.map(
    (it) =>
      `${pad(signOf(it), 9)}  ${pad(it.signature, width)}  ${grouped(it.count)}${it.last === undefined ? '' : `, last ${at(it.last)}`}${hostsOf(it)}`,
  )
  const room = Math.max(1, rows - 3)
  const left = lines.length > room ? [`… and ${lines.length - room} more`] : []
  const state = `… ${grouped(document.lines)} line${document.lines === 1 ? '' : 's'} so far${lines.length === 0 ? ', no known fault' : ''}; Ctrl-C stops with a summary`
  return [...lines.slice(0, room), ...left, state].map((line) => clip(line, screen.columns - 1))

  function signOf({ severity }: ScanMatch): string {
    return severity === 'info' ? '· info' : badge(severity, paint)
  }
}

function hostsOf({ hosts }: ScanMatch): string {
  const names = Object.keys(hosts ?? {})
  return names.length === 0 ? '' : `: ${printable(names.slice(0, 3).join(', '))}`
}
