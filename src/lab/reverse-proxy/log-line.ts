const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export interface Answered {
  at: Date
  address: string
  method: string
  target: string
  status: number
  bytes: number
  referer: string | undefined
  agent: string | undefined
  authorization: string | undefined
}

/** Returns a line in nginx's combined format, plus the Authorization scheme, which an nginx `map` extracts. */
export function logLine({
  at,
  address,
  method,
  target,
  status,
  bytes,
  referer,
  agent,
  authorization,
}: Answered): string {
  const scheme = /^([A-Za-z-]+) /.exec(authorization ?? '')?.[1]
  const words = [`${method} ${target} HTTP/1.1`, referer, agent, scheme].map(
    (text) => `"${text === undefined ? '-' : escaped(text)}"`,
  )
  return `${address} - - [${clockTime(at)}] ${words[0]} ${status} ${bytes} ${words.slice(1).join(' ')}\n`
}

function clockTime(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${two(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}`
  return `${day}:${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} +0000`
}

function escaped(text: string): string {
  return text.replace(
    /["\\]|[^\x20-\x7e]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
