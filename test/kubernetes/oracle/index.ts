import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { cacheFolder, cached } from '../../../src/lab/servers/packages/cache.ts'
import { unpackDebian } from '../../../src/lab/servers/packages/debian.ts'
import { tryProgram } from '../../../src/lab/servers/try-program.ts'
import { plainly } from './played.ts'
import type { Answer, Played } from './played.ts'
import type { Sequence } from './writes.ts'

/** Kubernetes' own code for the owners of fields, as a program. */
export interface Oracle {
  play(sequence: Sequence): Promise<Played[]>
  /** Returns why the API does not take an object, whatever its kind; null if it does */
  refusal(object: unknown): Promise<string | null>
  close(): Promise<void>
}

/** Debian's suite that has the release of Kubernetes that the recordings are of: 1.36. */
const suite = 'forky'
const sources = ['main.go', 'rules.go']

/** Built from Debian's packages of Go and of Kubernetes' libraries, once. */
export async function startOracle(): Promise<Oracle> {
  const child = spawn(await built(), { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (write: object): Promise<Answer> => {
    child.stdin.write(`${JSON.stringify(write)}\n`)
    const line = await lines.next()
    if (line.done === true) throw new Error('the oracle has ended')
    return JSON.parse(line.value) as Answer
  }
  return {
    async play({ kind, writes }) {
      await ask({ verb: 'begin', kind })
      const all: Played[] = []
      for (const write of writes) all.push(plainly(await ask(write)))
      return all
    },
    async refusal(object) {
      const { status, message } = await ask({ verb: 'read', body: object })
      return status === 200 ? null : `${status}: ${message}`
    },
    async close() {
      child.stdin.end()
      await ended
    },
  }
}

async function built(): Promise<string> {
  const texts = await Promise.all(sources.map((name) => readFile(join(import.meta.dirname, name))))
  const mark = createHash('sha256').update(Buffer.concat(texts)).digest('hex').slice(0, 12)
  const options = { progress: (message: string) => void process.stderr.write(`servers: ${message}\n`) }
  const cache = cacheFolder(process.env)
  const folder = await cached(
    cache,
    `field-owners-${suite}-${mark}`,
    async (temporary) => {
      options.progress(
        `fetching Go and Kubernetes' libraries from Debian ${suite} (about 130 MB, once), and building with them`,
      )
      const root = join(temporary, 'root')
      for (const packageName of ['golang-go', 'golang-k8s-client-go-dev'])
        await unpackDebian({ suite, packageName, cache, root }, options)
      const code = join(root, 'usr/share/gocode')
      const place = join(code, 'src/k8s.io/client-go/applyconfigurations/oracle')
      await mkdir(place)
      for (const name of sources) await copyFile(join(import.meta.dirname, name), join(place, name))
      const goRoot = join(
        root,
        'usr/lib',
        (await readdir(join(root, 'usr/lib'))).find((name) => name.startsWith('go-'))!,
      )
      const environment = {
        PATH: '/usr/bin:/bin',
        HOME: root,
        GOROOT: goRoot,
        GOPATH: code,
        GOCACHE: join(temporary, 'cache'),
        GO111MODULE: 'off',
        CGO_ENABLED: '0',
        GOFLAGS: '',
        GOTOOLCHAIN: 'local',
      }
      const made = await tryProgram(
        join(goRoot, 'bin/go'),
        ['build', '-C', place, '-ldflags=-s -w', '-o', join(temporary, 'oracle'), '.'],
        { environment },
      )
      if (!made.ok) throw new Error(`the oracle was not built: ${made.message}`)
      for (const needless of [root, join(temporary, 'cache')]) await rm(needless, { recursive: true, force: true })
    },
    options,
  )
  return join(folder, 'oracle')
}
