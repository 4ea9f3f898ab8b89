// Makes what hosts without Node take, in packages/: one executable file and a Debian package for each processor, and
// their checksums. The same commit makes the same bytes. `npm run package -- --help` shows the flags.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { debianPackage } from './package/debian.js'
import { buildImage, imageEngine } from './package/image.js'
import { fetchedNode, nodeVersion } from './package/fetched.js'
import { oneFile, preparedBlob } from './package/one-file.js'
import { Unable } from './package/unable.js'

const root = join(fileURLToPath(import.meta.url), '../..')
const usage = `Usage: npm run package -- [flags]
  --arch x64|arm64   Make only this one; may be given twice
  --output DIR       Write here (default packages)
  --key FILE         Sign SHA256SUMS with this SSH key
  --no-deb           Make no Debian packages
  --image            Also build the container image, with docker or podman
`

async function main() {
  const { values: flags } = parsed()
  if (flags.help) return void process.stdout.write(usage)
  const machines = [...new Set(flags.arch ?? ['x64', 'arm64'])]
  for (const it of machines) if (!['x64', 'arm64'].includes(it)) throw new Unable(`unknown architecture ${it}`)
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch))
    throw new Unable('run it on Linux, on x86-64 or arm64')
  if (flags.image && !machines.includes(process.arch))
    throw new Unable(`--image needs the file of this machine: add --arch ${process.arch}`)
  const engine = flags.image ? imageEngine() : null
  const isDebian = !flags['no-deb']
  if (isDebian && spawnSync('dpkg-deb', ['--version']).error)
    throw new Unable('dpkg-deb is missing. Install the package dpkg, or add --no-deb')
  const epoch = isDebian ? commitTime() : null

  const output = resolve(flags.output)
  mkdirSync(output, { recursive: true })
  const work = mkdtempSync(join(output, '.work-'))
  process.once('exit', () => rmSync(work, { recursive: true, force: true }))
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

  const own = await fetchedNode(process.arch, work)
  const blob = await preparedBlob({ root, work, node: own.program })
  const notices = join(output, 'THIRD-PARTY-NOTICES.txt')
  writeFileSync(notices, noticesWith(own.licence))
  const made = [notices]
  for (const arch of machines) {
    const { program } = arch === process.arch ? own : await fetchedNode(arch, work)
    const file = join(output, `testops-admin-linux-${arch}`)
    await oneFile({ node: program, blob, file, work })
    made.push(file)
    if (isDebian) made.push(debianPackage({ root, work, file, arch, epoch, notices, output }))
  }
  sumUp(output, made, flags.key)
  for (const file of made) console.log(file)
  if (engine)
    console.log(buildImage({ engine, root, work, file: join(output, `testops-admin-linux-${process.arch}`), notices }))
}

function parsed() {
  try {
    return parseArgs({
      options: {
        arch: { type: 'string', multiple: true },
        output: { type: 'string', default: join(root, 'packages') },
        key: { type: 'string' },
        'no-deb': { type: 'boolean' },
        image: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new Unable(`${error.message.split('. ')[0]}\n\n${usage.trimEnd()}`)
  }
}

/** Returns the seconds since 1970 that all files of a package bear: SOURCE_DATE_EPOCH, else the time of the commit. */
function commitTime() {
  const { SOURCE_DATE_EPOCH: given } = process.env
  const { stdout } = given === undefined ? spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root }) : {}
  const text = given ?? stdout?.toString().trim() ?? ''
  if (!/^\d{1,12}$/.test(text)) throw new Unable('no commit here to take the time from: set SOURCE_DATE_EPOCH')
  return Number(text)
}

function noticesWith(licence) {
  const ours = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8').trimEnd()
  return `${ours}\n\n${'-'.repeat(80)}\n\nNode.js ${nodeVersion}\n\n${readFileSync(licence, 'utf8').trimEnd()}\n`
}

function sumUp(output, files, key) {
  const sums = join(output, 'SHA256SUMS')
  const signature = `${sums}.sig`
  const lines = files.map(
    (file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}`,
  )
  writeFileSync(sums, lines.sort((one, other) => (one.slice(64) < other.slice(64) ? -1 : 1)).join('\n') + '\n')
  files.push(sums)
  // an earlier signature is of other sums
  rmSync(signature, { force: true })
  if (key === undefined) return
  try {
    execFileSync('ssh-keygen', ['-Y', 'sign', '-q', '-n', 'testops-admin', '-f', key, sums], { stdio: 'inherit' })
  } catch {
    throw new Unable(`ssh-keygen cannot sign with the key ${key}`)
  }
  files.push(signature)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof Unable)) throw error
  console.error(`Error: ${error.message}`)
  process.exitCode = 1
}
