import { idLook } from './ids.ts'
import type { Look } from './look.ts'
import { objectLook } from './objects.ts'
import { pathLook } from './paths.ts'
import { portLook } from './ports.ts'
import { timeLook } from './times.ts'

/** characters of a value that are looked at */
const most = 2000

/** a test that began before was not: the time stands for none */
const earliest = Date.UTC(2000)

/** Why a value looks as if it were another in each run; null: it does not. Rather too little is told than too much. */
export function volatileLook(value: string, name: string, began: number | null): Look | null {
  // no shorter one is anything but a word or a small number
  if (value.length < 5) return null
  const text = unquoted(value.length > most ? value.slice(0, most) : value)
  const at = began !== null && began >= earliest ? began : null
  const hasDigit = /\d/.test(text)
  if (!hasDigit) return text.includes('/') || text.includes('\\') ? pathLook({ text, name, at }) : null
  const looked = { text, name, at }
  return idLook(looked) ?? timeLook(looked) ?? pathLook(looked) ?? objectLook(looked) ?? portLook(looked)
}

/** Python's adapters write `repr(value)`, in which texts are in quotes. */
function unquoted(value: string): string {
  const first = value[0]
  return (first === "'" || first === '"') && value.endsWith(first) ? value.slice(1, -1) : value
}
