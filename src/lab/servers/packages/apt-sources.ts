import { readFile, readdir } from 'node:fs/promises'
import { exists } from './cache.ts'

/** The mirror that this machine gets Debian's packages from. */
export interface Mirror {
  uri: string
  /** in the form of apt's options in square brackets */
  options: readonly string[]
}

const debianSuite = /^(oldoldstable|oldstable|stable|testing|unstable|sid|bullseye|bookworm|trixie|forky|duke)$/
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** The mirror of Debian's main archive in this machine's apt configuration; null: there is none. */
export async function debianMirror(folder = '/etc/apt'): Promise<Mirror | null> {
  const entries = [...oneLine(await read(`${folder}/sources.list`))]
  const parts = (await exists(`${folder}/sources.list.d`)) ? await readdir(`${folder}/sources.list.d`) : []
  for (const part of parts.sort()) {
    const text = await read(`${folder}/sources.list.d/${part}`)
    if (part.endsWith('.list')) entries.push(...oneLine(text))
    if (part.endsWith('.sources')) entries.push(...stanzas(text))
  }
  const main = entries.filter(
    (entry) => entry.suites.some((suite) => debianSuite.test(suite)) && entry.components.includes('main'),
  )
  // other archives also offer packages for Debian's releases
  const found = main.find((entry) => /debian/i.test(entry.uri) && !/security/.test(entry.uri))
  if (!found) return null
  const signed = (await exists(keyring)) ? [`signed-by=${keyring}`] : []
  return { uri: found.uri, options: found.trusted ? ['trusted=yes'] : signed }
}

interface Entry {
  uri: string
  suites: readonly string[]
  components: readonly string[]
  trusted: boolean
}

function oneLine(text: string): Entry[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)/.exec(line)
    if (!match) return []
    const [, options = '', uri = '', suite = '', components = ''] = match
    return [
      { uri, suites: [suite], components: components.trim().split(/\s+/), trusted: /\btrusted=yes\b/.test(options) },
    ]
  })
}

function stanzas(text: string): Entry[] {
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name: string) => {
      const value = new RegExp(`^${name}:[ \\t]*(.*(?:\\n[ \\t]+.*)*)`, 'im').exec(stanza)?.[1] ?? ''
      return value.split(/\s+/).filter(Boolean)
    }
    if (!field('Types').includes('deb') || field('Enabled')[0] === 'no') return []
    const [suites, components, trusted] = [field('Suites'), field('Components'), field('Trusted')[0] === 'yes']
    return field('URIs').map((uri) => ({ uri, suites, components, trusted }))
  })
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return ''
  }
}
