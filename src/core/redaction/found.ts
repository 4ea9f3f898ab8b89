import { byName } from './by-name.ts'
import { anyMask, forms, isMaskAt, isPlaceholder, isProse, kindOfName, looksSecret } from './table.ts'
import type { Separator, Span, Value } from './values.ts'
import { isKey, isQuote, secretAt, valueAt } from './values.ts'
import type { View } from './view.ts'

/** A place where a command or statement takes a secret without a name before it. */
interface Argument {
  /** The text before the secret, to where it begins */
  readonly before: RegExp
  /** `login`: a user, a colon and a password; `likely`: only what looks like a secret */
  readonly kind: Separator | 'login' | 'likely'
}

// parts of the patterns below
const quote = '["\'`]'
const edge = '[\\s"\'`]'
const bare = '[^\\s"\'`,]'
/** Where the name of a program ends */
const nameEnd = `(?=${edge})`
/** From the end of an argument in quotation marks to the next one */
const toNext = String.raw`${quote}[ \t]{0,3},?[ \t]{0,3}(?=${quote})`
/** The same, or nothing: the value stands in the same quotation marks */
const toNextOrHere = `(?:${toNext}|(?=[^"'\`]))`
const passwordFlag = String.raw`(?:\s-p(?!assw)[ \t]{0,9}|${quote}-p(?!assw)${toNextOrHere})`

// blanks separate arguments, or quotation marks and a comma, as in lists of JSON
const table: readonly Argument[] = [
  { before: /(?<![\w-])(?:mysql|mariadb)[\w-]{0,12}(?=[\s"'`])[^\n|;]{0,300}?[\s"'`]-p(?=[^\s,])/gi, kind: '=' },
  {
    before: new RegExp(
      String.raw`(?<![\w-])(?:redis|keydb|valkey)-cli${nameEnd}[^\n|;]{0,300}?(?:\s-a[ \t]{1,9}|${quote}-a${toNext})`,
      'gi',
    ),
    kind: '=',
  },
  {
    before: new RegExp(
      String.raw`(?<![\w-])sshpass${nameEnd}[^\n|;]{0,60}?(?:\s-p[ \t]{0,9}|${quote}-p${toNextOrHere})`,
      'gi',
    ),
    kind: '=',
  },
  { before: new RegExp(String.raw`(?<![\w-])login${nameEnd}[^\n|;]{0,200}?${passwordFlag}`, 'gi'), kind: '=' },
  {
    before: new RegExp(
      String.raw`(?<![\w-])(?:mongo\w{0,10}|cqlsh|rabbitmqadmin)${nameEnd}[^\n|;]{0,200}?${passwordFlag}`,
      'g',
    ),
    kind: '=',
  },
  {
    before: new RegExp(
      String.raw`(?<![\w-])ldap(?:search|modify|add|delete|passwd|whoami)${nameEnd}[^\n|;]{0,200}?` +
        String.raw`(?:\s-w[ \t]{1,9}|${quote}-w${toNext})`,
      'gi',
    ),
    kind: '=',
  },
  {
    before: new RegExp(
      '(?<![^\\s"\'`,[(])(?:-u|--user|--proxy-user)' +
        String.raw`(?:${quote}?[ \t]{0,9},[ \t]{0,9}|[ \t=]{1,9}|${quote}[ \t]{1,9}(?=${quote}))`,
      'gi',
    ),
    kind: 'login',
  },
  {
    before: new RegExp(
      String.raw`(?<![\w-])curl${nameEnd}[^\n|;]{0,300}?${edge}-[a-z]{0,8}u` +
        String.raw`(?:${quote}?[ \t]{0,9},[ \t]{0,9}|[ \t]{1,9})?(?=["']?[\w.@+-]{1,80}:)`,
      'gi',
    ),
    kind: 'login',
  },
  {
    before: new RegExp(
      String.raw`(?<![\w-])(?:add_user|change_password|authenticate_user)${quote}?[ \t,]{1,9}` +
        String.raw`(?:"[^"\n]{1,100}"|'[^'\n]{1,100}'|${bare}{1,100})[ \t,]{1,9}`,
      'gi',
    ),
    kind: 'flag',
  },
  // Redis: with and without a user, as it is typed, and as MONITOR and clients show it
  { before: /(?<![\w-])AUTH["'`]?[ \t,]{1,9}["'`]?default["'`]?[ \t,]{1,9}/g, kind: 'flag' },
  { before: /(?<=["'`])auth["'`][ \t,]{1,9}["'`]default["'`][ \t,]{1,9}/gi, kind: 'flag' },
  { before: /(?<=["'`])auth["'`][ \t]{1,9}(?=["'`])/gi, kind: 'flag' },
  { before: /(?<![\w-])auth[ \t]{1,9}default[ \t]{1,9}/gi, kind: 'likely' },
  { before: /(?:^|>)[ \t]{0,3}AUTH[ \t]{1,9}(?=\S{1,300}[ \t]{0,9}$)/gim, kind: 'flag' },
  { before: /(?<![\w-])AUTH["'`]?[ \t,]{1,9}["'`]?[\w.@-]{1,60}["'`]?[ \t,]{1,9}/g, kind: 'likely' },
  { before: /(?<![\w-])SETUSER["'`]?[ \t,][^\n]{0,200}?[\s"'`]>/gi, kind: 'flag' },
  // SQL
  {
    before: new RegExp(
      String.raw`\bidentified[ \t]{1,9}(?:with[ \t]{1,9}\S{1,60}[ \t]{1,9})?(?:by|as)[ \t]{1,9}` +
        String.raw`(?:password[ \t]{1,9})?(?:values[ \t]{1,9})?(?=["'])`,
      'gi',
    ),
    kind: '=',
  },
  { before: /\bIDENTIFIED BY[ \t]{1,9}(?!["'])/g, kind: 'flag' },
  { before: /\bidentified by[ \t]{1,9}(?!["'])/gi, kind: 'likely' },
  { before: /\b(?:PASSWORD|(?:with|encrypted)[ \t]{1,9}password)[ \t]{1,9}(?=')/g, kind: '=' },
]

/** Finds `redis-cli -a X`, `curl -u user:X`, `add_user USER X`, `IDENTIFIED BY 'X'`. */
function byArgument(view: View): Span[] {
  return table.flatMap(({ before, kind }) =>
    [...view.text.matchAll(before)].flatMap(({ 0: all, index }) => secretOf(view, index + all.length, kind) ?? []),
  )
}

function secretOf(view: View, at: number, kind: Argument['kind']): Span | null {
  const { text } = view
  // the mark closes what stands before, as in prose about `sshpass -p`
  if (isQuote(text[at]) && /[\s,;:.)\]}]|^$/.test(text.charAt(at + 1))) return null
  // the value comes from a file or another command
  if (/^[<|>&;\\](?:\s|$)/.test(text.slice(at, at + 2))) return null
  if (kind !== 'login' && kind !== 'likely') return secretAt(view, at, 'strong', kind)
  const value = valueAt(view, at, isQuote(text[at]) ? undefined : 2000)
  const it = text.slice(value.start, Math.min(value.end, value.start + 300))
  if (kind === 'likely') return looksSecret(it) ? value : null
  const [, user = '', password = ''] = /^([\w.@+-]{1,80}):(.+)/s.exec(it) ?? []
  // `docker run` takes numbers here
  return user === '' || isPlaceholder(password) || isPlaceholderOf(password) || /^\d+:\d+$/.test(it) ? null : value
}

/** An address from its two slashes to its farthest possible end */
const addresses = /:\/\/[^\s"'`<>]*/g
const web = /https?$/i

/** Finds logins and keys in addresses. */
function inAddresses(text: string): Span[] {
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
  if (maskedLogin.test(login)) return 0
  return login.includes(':') || login.length >= 16 ? at : 0
}

const outside = /[\s"'`<>,;(){}|]/
/** Words before a colon that name no user */
const noUser = /^(?:mailto|acct|sip|ssh|git|sha\d+)$/i

/** Finds `user:password@host`, without a scheme. */
function beforeHosts(text: string): Span[] {
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

const maskedEnd = new RegExp(`${anyMask}$`)
const maskedLogin = new RegExp(`(?:^|:)${anyMask}$`)

/** Returns true if nothing secret follows the colon of a login. */
function isPlaceholderOf(password: string): boolean {
  return (
    maskedEnd.test(password) ||
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

const pairs =
  /[{}\n]|(?<![\p{L}\p{N}_])(?:(name|key|header|field|property)|(value|val))["'`]?(?:[ \t]{0,9}[=:][ \t]{0,9}|>)/giu

/** Finds `"name": "password", "value": "…"`, in either order, in JSON, YAML, XML, and as Java prints it. */
function byPair(view: View): Span[] {
  const { text } = view
  const found: Span[] = []
  let [isSecret, value, lines] = [null as boolean | null, null as Value | null, 0]
  pairs.lastIndex = 0
  for (let match = pairs.exec(text); match !== null; match = pairs.exec(text)) {
    const [sign, name, isValue] = match
    if (sign === '\n') {
      // a name and its value stand on lines that follow each other
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
    if (isSecret && value.end > value.start && !isMaskAt(text, value.start)) {
      const secret = secretAt(view, value.isQuoted ? value.start - 1 : value.start, 'strong', '=')
      if (secret) found.push(secret)
    }
    ;[isSecret, value] = [null, null]
  }
  return found
}

/** Finds what is secret in a view by its name or its form, in no order; spans may overlap. */
export function secretsIn(view: View): Span[] {
  return [
    ...byName(view),
    ...byPair(view),
    ...byArgument(view),
    ...byForm(view.text),
    ...blocks(view.text),
    ...inAddresses(view.text),
    ...beforeHosts(view.text),
    ...sessionsIn(view.text),
    ...schemesIn(view.text),
  ]
}

function byForm(text: string): Span[] {
  return forms.flatMap((form) =>
    [...text.matchAll(form)].map(({ 0: { length }, index: start }) => ({ start, end: start + length })),
  )
}

const beginning = /-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|SECRET|MESSAGE)[A-Z0-9 ]{0,20}-----/gi
const ending = /-----END [A-Z0-9 ]{0,60}-----/gi

/** Finds the content of private keys, up to their last line, or to the end of the text. */
function blocks(text: string): Span[] {
  const found: Span[] = []
  beginning.lastIndex = 0
  for (let match = beginning.exec(text); match !== null; match = beginning.exec(text)) {
    const start = match.index + match[0].length
    ending.lastIndex = start
    const end = ending.exec(text)?.index ?? text.length
    found.push({ start, end })
    beginning.lastIndex = Math.max(start, end)
  }
  return found
}

const sessions = /(?::sessions:(?:expires:)?|(?<![\p{L}\p{N}])expires:(?=[\da-f]{8}-))([\w-]{6,})/giu

/** Finds ids of sessions in names of keys: they are credentials. */
function sessionsIn(text: string): Span[] {
  return [...text.matchAll(sessions)].flatMap(({ 0: all, 1: id = '', index: start }) => {
    const end = start + all.length
    return /^(?:expirations|expires)$/i.test(id) ? [] : [{ start: end - id.length, end }]
  })
}

const schemeWords = /(?<![\p{L}\p{N}])(Bearer|api-token|Basic|apitoken|Negotiate)[ \t]{1,9}(?=[\w+/])([\w.~+/=-]+)/giu

/** Finds `Bearer …`, `Basic …`, `api-token …` wherever they stand. */
function schemesIn(text: string): Span[] {
  return [...text.matchAll(schemeWords)].flatMap(({ 0: all, 1: scheme = '', 2: value = '', index: start }) => {
    const end = start + all.length
    const word = value.replace(/[.=]{1,3}$/, '')
    // a reference, as this program takes it
    if (text[end] === ':' && /^(?:env|file)$/.test(value)) return []
    if (isProse(word) || (isProse(/^[\p{L}]+/u.exec(word.slice(0, 40))?.[0] ?? '') && /^\p{L}+[=]/u.test(value)))
      return []
    if (/^(?:basic|negotiate)$/i.test(scheme) && !(value.length >= 6 && /[\d=]|\p{Ll}\p{Lu}/u.test(value))) return []
    return [{ start: end - value.length, end }]
  })
}
