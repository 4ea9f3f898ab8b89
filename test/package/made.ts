import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { cached } from '../../src/lab/servers/packages/cache.ts'

const script = fileURLToPath(new URL('../../bin/package.js', import.meta.url))

/** The command that runs the package as npm installs it. */
export const packageProgram = [process.execPath, fileURLToPath(new URL('../../bin/run.js', import.meta.url))] as const

/** This machine's processor, as Node and as Debian call it. */
export const arch = process.arch as 'x64' | 'arm64'
export const debianArch = { x64: 'amd64', arm64: 'arm64' }[arch]

export interface Ended {
  stdout: string
  stderr: string
  exitCode: number | null
}

/** What a program reads on standard input, which ends once it has printed a text: an MCP server answers until then. */
export interface HeldInput {
  text: string
  until: string
}

/** Runs a program to its end. */
export async function ended(
  [file, ...words]: readonly [string, ...string[]],
  {
    input,
    ...options
  }: { cwd?: string; env?: Readonly<Record<string, string | undefined>>; input?: HeldInput | undefined } = {},
): Promise<Ended> {
  const child = spawn(file, words, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => undefined)
  if (input === undefined) child.stdin.end()
  else child.stdin.write(input.text)
  const texts = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text
    if (input !== undefined && texts.stdout.includes(input.until)) child.stdin.end()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ ...texts, exitCode }))
  })
}

/** Runs what `npm run package` runs once the program is built. */
export async function packaging(words: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  return ended([process.execPath, script, ...words], {
    env: { ...process.env, SOURCE_DATE_EPOCH: '1790000000', ...environment },
  })
}

/** Returns the folder of what is made for this machine's processor, once for all tests of a run. */
export async function madePackages(): Promise<string> {
  return cached(
    join(inject('serversFolder'), 'packages'),
    'made',
    async (folder) => {
      const { exitCode, stderr } = await packaging(['--arch', arch, '--output', folder])
      if (exitCode !== 0) throw new Error(`npm run package exited with ${exitCode}: ${stderr}`)
    },
    { progress: () => undefined },
  )
}

/** Returns the path of the one file for this machine. */
export async function oneFile(): Promise<string> {
  return join(await madePackages(), `testops-admin-linux-${arch}`)
}
