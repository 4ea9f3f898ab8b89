import { secretsIn } from './found.ts'
import { knownCount, knownIn } from './known.ts'
import { anyMask, inRussian, mask } from './table.ts'
import type { Span } from './values.ts'
import { viewOf } from './view.ts'

/** Most texts match none of these and hold no secret by a name or a form; there may be very many such texts. */
const hint = new RegExp(
  [
    inRussian,
    'pass|pwd|pswd|pw|csrf|xsrf|identified|curl|add_user|setuser',
    '[\\s"\'`]-{1,2}[apuw]',
    String.raw`mii|mi[gh]\wage|m[ch]\wcaq|ls0t|\{[\w-]{2,12}[}@]`,
    String.raw`secret|token|key|cred|auth|cookie|sess|\bsid\b|sig|bearer|basic|negotiate`,
    String.raw`eyj|gl\w{2,5}-|gh[a-z][_-]|github_pat|xox|xapp|npm_|pypi-|dckr_|hv[sb]\.|atatt|a(?:k|s)ia|aiza`,
    String.raw`-----begin|@|:\/\/|expires:|[\\%&]`,
  ].join('|'),
  'i',
)

/** Returns what stands in the place of a secret. */
export type MaskOf = (secret: string) => string

/**
 * Returns text without its secrets: values that this program holds as secrets, values after names that mark secrets,
 * and what is secret by its form. Undoes escapes to find them, and changes nothing else: each secret becomes
 * `[secret]`, each line of it if it has several. Takes time in proportion to the text, and finds nothing new in what it
 * returns.
 */
export function withoutSecrets(text: string): string {
  if (text.length > longestKept) return cleaned(text)
  if (kept.size >= mostKept || keptWith !== knownCount()) {
    kept.clear()
    keptWith = knownCount()
  }
  const known = kept.get(text)
  if (known !== undefined) return known
  const clean = cleaned(text)
  kept.set(text, clean)
  return clean
}

/**
 * Returns the first characters of a text without its secrets. A mask at the end stays whole: of half a mask, or of a
 * name without its value, the next search would take what follows for the secret.
 */
export function beginningWithoutSecrets(text: string, most: number): string {
  const clean = withoutSecrets(text)
  masks.lastIndex = 0
  let end = most
  for (let match = masks.exec(clean); match !== null && match.index <= most; match = masks.exec(clean))
    if (masks.lastIndex > most) end = masks.lastIndex
  return clean.slice(0, end)
}

/** Masks, with what may stand between a name and its value */
const masks = new RegExp(`["'\`\\s]{0,5}${anyMask}`, 'g')

/** Cleaned short texts: a report repeats names of properties, states and places. Each is examined once. */
const kept = new Map<string, string>()
let keptWith = 0
const [mostKept, longestKept] = [1000, 300]

/** Returns text without its secrets, as `withoutSecrets` does, but with masks of the caller's. */
export function cleaned(text: string, maskOf: MaskOf = () => mask): string {
  const isHinted = hint.test(text)
  const view = isHinted ? viewOf(text) : viewOf('')
  const spans = knownIn(text, isHinted ? view : { ...view, text })
  if (isHinted)
    for (const { start, end } of secretsIn(view))
      if (end > start) spans.push({ start: view.from(start), end: view.to(end - 1) })
  return spans.length === 0 ? text : masked(text, spans, maskOf)
}

function masked(text: string, spans: Span[], maskOf: MaskOf): string {
  const parts: string[] = []
  let done = 0
  for (const { start, end } of united(spans)) {
    parts.push(text.slice(done, start), lineByLine(text.slice(start, end), maskOf))
    done = end
  }
  return parts.join('') + text.slice(done)
}

/** Returns the spans in order, with overlapping ones joined. */
function united(spans: Span[]): Span[] {
  const all: { start: number; end: number }[] = []
  for (const { start, end } of spans.sort((one, other) => one.start - other.start)) {
    const last = all.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else all.push({ start, end })
  }
  return all
}

function lineByLine(secret: string, maskOf: MaskOf): string {
  const shown = maskOf(secret)
  return secret.includes('\n')
    ? secret
        .split('\n')
        .map((line) => (line.trim() === '' ? line : `${/^[ \t]*/.exec(line)![0]}${shown}`))
        .join('\n')
    : shown
}
