import { mask } from './table.ts'
import type { Span } from './values.ts'
import { isKey } from './wordy.ts'

/** An address from its two slashes to its farthest possible end */
const addresses = /:\/\/[^\s"'`<>]*/g
const web = /https?$/i

/** Finds logins and keys in addresses. */
export function inAddresses(text: string): Span[] {
  const found: Span[] = []
  for (const { 0: run, index: runStart } of text.matchAll(addresses)) {
    let start = runStart
    let isWeb = web.test(text.slice(Math.max(0, runStart - 5), runStart))
    // one address may contain another
    for (const part of run.slice(3).split('://')) {
      found.push(...inAddress(part, start + 3, isWeb))
      start += 3 + part.length
      isWeb = web.test(part.slice(-5))
    }
  }
  return found
}

function inAddress(address: string, at: number, isWeb: boolean): Span[] {
  const found: Span[] = []
  const login = loginEnd(address)
  if (login > 0) found.push({ start: at, end: at + login })
  if (!isWeb) return found
  const pathEnd = address.search(/[?#]|$/)
  let from = address.indexOf('/', Math.max(0, login)) + 1
  let before = ''
  while (from > 0 && from < pathEnd) {
    const slash = address.indexOf('/', from)
    const to = slash < 0 || slash > pathEnd ? pathEnd : slash
    const segment = address.slice(from, to).replace(/[)\].,;]{1,9}$/, '')
    if (isKey(segment, before)) found.push({ start: at + from, end: at + from + segment.length })
    before = segment
    from = to + 1
  }
  return found
}

/** Returns where the login of an address ends, before its `@`; 0: it has none, or a user alone. */
function loginEnd(address: string): number {
  const authorityEnd = address.search(/[/?#]|$/)
  let at = address.lastIndexOf('@', authorityEnd)
  if (at < 0) {
    // a password may hold unescaped slashes; what follows a port is a path
    at = address.indexOf('@')
    const colon = address.indexOf(':')
    if (
      at < 0 ||
      colon < 0 ||
      colon > authorityEnd ||
      /^\d{1,5}[/?#]/.test(address.slice(colon + 1, colon + 8)) ||
      address.startsWith('[')
    )
      return 0
    return colon < at ? at : 0
  }
  const login = address.slice(0, at)
  if (login === mask || login.endsWith(`:${mask}`)) return 0
  return login.includes(':') || login.length >= 16 ? at : 0
}

const outside = /[\s"'`<>,;(){}|]/
/** Words before a colon that name no user */
const noUser = /^(?:mailto|acct|sip|ssh|git|sha\d+)$/i

/** Finds `user:password@host`, without a scheme. */
export function beforeHosts(text: string): Span[] {
  const found: Span[] = []
  let done = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', done)) {
    let start = at
    while (start > done && !outside.test(text[start - 1]!)) start -= 1
    let end = at + 1
    while (end < text.length && !outside.test(text[end]!)) end += 1
    done = end
    const run = text.slice(start, end)
    const last = run.lastIndexOf('@')
    const [left, right] = [run.slice(0, last), run.slice(last + 1)]
    const equals = Math.max(left.lastIndexOf('=', left.indexOf(':')), -1)
    const colon = left.indexOf(':', equals + 1)
    const user = left.slice(equals + 1, colon)
    const password = left.slice(colon + 1)
    if (
      colon <= equals + 1 ||
      password === '' ||
      left.includes('://') ||
      noUser.test(user) ||
      isPlaceholderOf(password)
    )
      continue
    if (!/^[a-z0-9[]/i.test(right) || /^sha\d+:/i.test(right) || isIdentity(user, password, right)) continue
    found.push({ start: start + equals + 1, end: start + last })
  }
  return found
}

/** Returns true if nothing secret follows the colon of a login. */
export function isPlaceholderOf(password: string): boolean {
  return (
    password.endsWith(mask) ||
    /^(?:\*{3,}|[xX]{3,}|\$\{?[A-Z_]+\}?|\/{1,2}.*)$/.test(password) ||
    (/^\d+$/.test(password) === false && /^\/\//.test(password))
  )
}

/** Returns true for `lock:com.example.Lock@6d06d69c`, as Java names an object, and for a time before an at sign. */
function isIdentity(user: string, password: string, host: string): boolean {
  return (
    (/^[\da-f]{3,8}$/i.test(host.replace(/[.\])]{1,3}$/, '')) && /(?:^|[/.$:])\p{Lu}[\w$]*$/u.test(password)) ||
    /^\d{2,5}\//.test(password) ||
    (/^\d+$/.test(user) && /^[\d:.]+$/.test(password))
  )
}
