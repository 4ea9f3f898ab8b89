import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder, cached } from '../../src/lab/servers/packages/cache.ts'
import { unpackDebian } from '../../src/lab/servers/packages/debian.ts'
import { tryProgram } from '../../src/lab/servers/try-program.ts'

const name = 'chromium-headless-shell'

/**
 * Returns Chromium without windows, for playwright: of Debian's package, which is fetched once and unpacked without
 * root, else of this machine. Throws an error if there is none that runs.
 */
export async function browserProgram(): Promise<string> {
  const failures: string[] = []
  for (const suite of ['bookworm', 'trixie']) {
    try {
      const program = await fetched(suite)
      const ran = await tryProgram(program, ['--version'], { timeoutMs: 30_000 })
      if (ran.ok) return program
      failures.push(`${suite}: ${ran.message}`)
    } catch (error) {
      failures.push(`${suite}: ${String(error)}`)
    }
  }
  for (const path of [`/usr/bin/${name}`, '/usr/bin/chromium'])
    if ((await tryProgram(path, ['--version'], { timeoutMs: 30_000 })).ok) return path
  throw new Error(`there is no Chromium: ${failures.join('; ')}`)
}

/** The C library: the machine's own is used, since the browser starts itself again through the machine's loader */
const ofLibc = /^(?:ld-linux|lib(?:c|m|mvec|pthread|dl|rt|resolv|util|anl|nsl|thread_db|nss_[a-z]+|c_malloc_debug)\.so)/

async function fetched(suite: string): Promise<string> {
  const options = { progress: (message: string) => void process.stderr.write(`servers: ${message}\n`) }
  const cache = cacheFolder(process.env)
  const folder = await cached(
    cache,
    `${name}-${suite}`,
    async (root, final) => {
      options.progress(`fetching ${name} from Debian ${suite} (about 165 MB, once)`)
      await unpackDebian({ suite, packageName: name, cache, root }, options)
      await unpackDebian({ suite, packageName: 'fonts-roboto-unhinted', cache, root }, options)
      const libraries: string[] = []
      for (const parent of ['usr/lib', 'lib'])
        for (const machine of (await readdir(join(root, parent))).filter((it) => it.includes('-linux-gnu'))) {
          const path = join(parent, machine)
          for (const file of await readdir(join(root, path)))
            if (ofLibc.test(file)) await rm(join(root, path, file), { recursive: true })
          libraries.push(join(final, path), join(final, path, 'pulseaudio'))
        }
      await mkdir(join(root, 'bin'))
      await writeFile(join(root, 'bin/fonts.conf'), fontsIn(final))
      const starter =
        `#!/bin/sh\nexport FONTCONFIG_FILE='${final}/bin/fonts.conf' LD_LIBRARY_PATH='${libraries.join(':')}'\n` +
        `exec '${final}/usr/lib/chromium/${name}' "$@"\n`
      await writeFile(join(root, 'bin', name), starter, { mode: 0o755 })
    },
    options,
  )
  return join(folder, 'bin', name)
}

/** The same fonts on each machine: pictures differ only if the page does. */
function fontsIn(folder: string): string {
  const aliases = { 'system-ui': 'Roboto', 'sans-serif': 'Roboto', sans: 'Roboto', monospace: 'DejaVu Sans Mono' }
  const matches = Object.entries(aliases).map(
    ([family, font]) =>
      `<match><test name="family"><string>${family}</string></test>` +
      `<edit name="family" mode="prepend" binding="strong"><string>${font}</string></edit></match>\n`,
  )
  return (
    `<?xml version="1.0"?>\n<fontconfig>\n<dir>${folder}/usr/share/fonts</dir>\n` +
    `<cachedir>${folder}/fontconfig</cachedir>\n${matches.join('')}</fontconfig>\n`
  )
}
