import { kindOfName, mask } from './table.ts'
import { secretAt, valueAt } from './values.ts'
import type { Span, Value } from './values.ts'
import type { View } from './view.ts'

const pairs =
  /[{}\n]|(?<![\p{L}\p{N}_])(?:(name|key|header|field|property)|(value|val))["'`]?(?:[ \t]{0,9}[=:][ \t]{0,9}|>)/giu

/** `"name": "password", "value": "…"`, in either order, in JSON, YAML, XML, and as Java prints it. */
export function byPair(view: View): Span[] {
  const { text } = view
  const found: Span[] = []
  let [isSecret, value, lines] = [null as boolean | null, null as Value | null, 0]
  pairs.lastIndex = 0
  for (let match = pairs.exec(text); match !== null; match = pairs.exec(text)) {
    const [sign, name, isValue] = match
    if (sign === '\n') {
      // what belongs together stands on lines that follow each other
      lines += 1
      if (lines > 3) [isSecret, value, lines] = [null, null, 0]
      continue
    }
    if (sign === '{' || sign === '}') {
      ;[isSecret, value, lines] = [null, null, 0]
      continue
    }
    const at = match.index + sign.length
    const it = valueAt(view, at)
    if (name !== undefined) {
      isSecret = kindOfName(text.slice(it.start, Math.min(it.end, it.start + 100))) !== null
      lines = 0
    } else if (isValue !== undefined) {
      value = it
      lines = 0
    }
    pairs.lastIndex = Math.max(pairs.lastIndex, it.end)
    if (isSecret === null || value === null) continue
    if (isSecret && value.end > value.start && !text.startsWith(mask, value.start)) {
      const secret = secretAt(view, value.isQuoted ? value.start - 1 : value.start, 'strong', '=')
      if (secret) found.push(secret)
    }
    ;[isSecret, value] = [null, null]
  }
  return found
}
