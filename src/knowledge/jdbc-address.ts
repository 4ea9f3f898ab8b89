/** Where an address of pgjdbc leads, and as whom (FIELD-NOTES.md 1.3; pgjdbc, "Connecting to the Database"). */
export interface JdbcAddress {
  hosts: readonly { host: string; port: number }[]
  /** Null if it names none, so that PostgreSQL takes the user's name */
  database: string | null
  user: string | null
}

const defaultPort = 5432
const here = [{ host: 'localhost', port: defaultPort }]
/** Maximum characters; an address of some hosts is shorter */
const mostCharacters = 4000
/** Parameters that lead elsewhere than the address itself says */
const detours = ['pghost', 'pgport', 'pgdbname', 'service', 'socketfactory']

/**
 * Parses `jdbc:postgresql://h1:p,h2:p/db?…`, also with a driver that wraps pgjdbc. Null if it is not of PostgreSQL, or
 * leads where it does not say.
 */
export function parseJdbcAddress(text: string): JdbcAddress | null {
  const plain = text.trim()
  if (plain.length > mostCharacters) return null
  const begin = /^(?:jdbc:(?:[a-z\d-]{1,30}:){0,3})?postgres(?:ql)?:/i.exec(plain)
  if (!begin) return null
  const rest = plain.slice(begin[0].length)
  const [way = '', query = ''] = cut(rest, '?')
  const parameters = new URLSearchParams(query)
  if ([...parameters.keys()].some((name) => detours.includes(name.toLowerCase()))) return null
  const [authority = '', path = ''] = way.startsWith('//') ? cut(way.slice(2), '/') : ['', way.replace(/^\//, '')]
  const hosts = hostsIn(authority.slice(authority.lastIndexOf('@') + 1))
  if (hosts === null) return null
  const signedIn = authority.includes('@') ? decoded(authority.slice(0, authority.lastIndexOf('@')).split(':')[0]!) : ''
  return { hosts, database: decoded(path) || null, user: parameters.get('user') || signedIn || null }
}

function hostsIn(text: string): JdbcAddress['hosts'] | null {
  if (text === '') return here
  const hosts: { host: string; port: number }[] = []
  for (const one of text.split(',')) {
    const found = /^(?:\[([\da-fA-F:.%]{2,100})\]|([^:[\]/\s]{0,255}))(?::(\d{1,5}))?$/.exec(one.trim())
    if (!found) return null
    hosts.push({
      host: (found[1] ?? found[2]) || 'localhost',
      port: found[3] === undefined ? defaultPort : Number(found[3]),
    })
  }
  return hosts
}

function cut(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
