import { isPlaceholderOf } from './addresses.ts'
import { isPlaceholder, looksSecret } from './table.ts'
import { isQuote, secretAt, valueAt } from './values.ts'
import type { Separator, Span } from './values.ts'
import type { View } from './view.ts'

/** A place where a command or statement takes a secret without a name before it. */
interface Argument {
  /** The text before the secret, to where it begins */
  readonly before: RegExp
  /** `login`: a user, a colon and a password; `likely`: only what looks like a secret */
  readonly kind: Separator | 'login' | 'likely'
}

// blanks separate arguments, or quotation marks and a comma, as in lists of JSON
const table: readonly Argument[] = [
  { before: /(?<![\w-])(?:mysql|mariadb)[\w-]{0,12}(?=[\s"'`])[^\n|;]{0,300}?[\s"'`]-p(?=[^\s,])/gi, kind: '=' },
  {
    before:
      /(?<![\w-])(?:redis|keydb|valkey)-cli(?=[\s"'`])[^\n|;]{0,300}?(?:\s-a[ \t]{1,9}|["'`]-a["'`][ \t]{0,3},?[ \t]{0,3}(?=["'`]))/gi,
    kind: '=',
  },
  {
    before:
      /(?<![\w-])sshpass(?=[\s"'`])[^\n|;]{0,60}?(?:\s-p[ \t]{0,9}|["'`]-p(?:["'`][ \t]{0,3},?[ \t]{0,3}(?=["'`])|(?=[^"'`])))/gi,
    kind: '=',
  },
  {
    before:
      /(?<![\w-])login(?=[\s"'`])[^\n|;]{0,200}?(?:\s-p(?!assw)[ \t]{0,9}|["'`]-p(?!assw)(?:["'`][ \t]{0,3},?[ \t]{0,3}(?=["'`])|(?=[^"'`])))/gi,
    kind: '=',
  },
  {
    before:
      /(?<![\w-])(?:mongo\w{0,10}|cqlsh|rabbitmqadmin)(?=[\s"'`])[^\n|;]{0,200}?(?:\s-p(?!assw)[ \t]{0,9}|["'`]-p(?!assw)(?:["'`][ \t]{0,3},?[ \t]{0,3}(?=["'`])|(?=[^"'`])))/g,
    kind: '=',
  },
  {
    before:
      /(?<![\w-])ldap(?:search|modify|add|delete|passwd|whoami)(?=[\s"'`])[^\n|;]{0,200}?(?:\s-w[ \t]{1,9}|["'`]-w["'`][ \t]{0,3},?[ \t]{0,3}(?=["'`]))/gi,
    kind: '=',
  },
  {
    before:
      /(?<![^\s"'`,[(])(?:-u|--user|--proxy-user)(?:["'`]?[ \t]{0,9},[ \t]{0,9}|[ \t=]{1,9}|["'`][ \t]{1,9}(?=["'`]))/gi,
    kind: 'login',
  },
  {
    before:
      /(?<![\w-])curl(?=[\s"'`])[^\n|;]{0,300}?[\s"'`]-[a-z]{0,8}u(?:["'`]?[ \t]{0,9},[ \t]{0,9}|[ \t]{1,9})?(?=["']?[\w.@+-]{1,80}:)/gi,
    kind: 'login',
  },
  {
    before:
      /(?<![\w-])(?:add_user|change_password|authenticate_user)["'`]?[ \t,]{1,9}(?:"[^"\n]{1,100}"|'[^'\n]{1,100}'|[^\s"'`,]{1,100})[ \t,]{1,9}/gi,
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
    before:
      /\bidentified[ \t]{1,9}(?:with[ \t]{1,9}\S{1,60}[ \t]{1,9})?(?:by|as)[ \t]{1,9}(?:password[ \t]{1,9})?(?:values[ \t]{1,9})?(?=["'])/gi,
    kind: '=',
  },
  { before: /\bIDENTIFIED BY[ \t]{1,9}(?!["'])/g, kind: 'flag' },
  { before: /\bidentified by[ \t]{1,9}(?!["'])/gi, kind: 'likely' },
  { before: /\b(?:PASSWORD|(?:with|encrypted)[ \t]{1,9}password)[ \t]{1,9}(?=')/g, kind: '=' },
]

/** Finds `redis-cli -a X`, `curl -u user:X`, `add_user USER X`, `IDENTIFIED BY 'X'`. */
export function byArgument(view: View): Span[] {
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
