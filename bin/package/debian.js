// Makes a Debian package around the one file.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { copyright } from './copyright.js'
import { Unable } from './unable.js'

const architectures = { x64: 'amd64', arm64: 'arm64' }

/** Releases of GCC whose libstdc++ was the first with that last number of GLIBCXX_3.4 (its manual, "ABI history"). */
const gccOf = { 21: '5.1', 22: '6.1', 23: '7.1', 24: '7.2', 25: '8.1', 26: '9.1', 28: '9.3', 29: '11.1', 30: '12.1' }

/** Writes the package, whose files all bear the time `epoch` in seconds, and returns its path. */
export function debianPackage({ root, work, file, arch, epoch, notices, output }) {
  const { version, author } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const architecture = architectures[arch]
  const tree = join(work, `debian-${arch}`)
  const write = (path, content) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), content)
  }
  const zipped = (path) => gzipSync(readFileSync(path), { level: 9 })

  mkdirSync(join(tree, 'usr/bin'), { recursive: true })
  copyFileSync(file, join(tree, 'usr/bin/testops-admin'))
  for (const name of readdirSync(join(root, 'dist/man')))
    write(`usr/share/man/man1/${name}.gz`, zipped(join(root, 'dist/man', name)))
  const completion = (shell) => execFileSync(process.execPath, [join(root, 'bin/run.js'), 'completion', shell])
  write('usr/share/bash-completion/completions/testops-admin', completion('bash'))
  write('usr/share/zsh/vendor-completions/_testops-admin', completion('zsh'))
  write('usr/share/fish/vendor_completions.d/testops-admin.fish', completion('fish'))
  for (const name of readdirSync(join(root, 'templates'), { recursive: true }))
    if (statSync(join(root, 'templates', name)).isFile())
      write(`usr/share/testops-admin/templates/${name}`, readFileSync(join(root, 'templates', name)))
  const documents = 'usr/share/doc/testops-admin'
  write(`${documents}/copyright`, copyright(root, notices))
  write(`${documents}/changelog.gz`, zipped(join(root, 'CHANGELOG.md')))

  const files = readdirSync(tree, { recursive: true })
    .filter((name) => statSync(join(tree, name)).isFile())
    .sort()
  const bytes = files.reduce((sum, name) => sum + statSync(join(tree, name)).size, 0)
  const sum = (name) =>
    createHash('md5')
      .update(readFileSync(join(tree, name)))
      .digest('hex')
  const sums = files.map((name) => `${sum(name)}  ${name}\n`).join('')
  const control = {
    Package: 'testops-admin',
    Version: version,
    Architecture: architecture,
    Maintainer: maintainer(author),
    'Installed-Size': String(Math.ceil(bytes / 1024)),
    Depends: dependencies(file),
    Suggests: 'bash-completion, man-db',
    Section: 'admin',
    Priority: 'optional',
    // a line has at most 80 characters (Policy 3.4.1)
    Description: [
      'diagnosis and repair of testops deployments',
      ' It finds what is wrong, shows the evidence, and names the repair.',
      ' It is one executable file: neither Node nor npm is needed.',
    ].join('\n'),
  }
  write(
    'DEBIAN/control',
    Object.entries(control).reduce((text, [key, value]) => `${text}${key}: ${value}\n`, ''),
  )
  write('DEBIAN/md5sums', sums)
  settle(tree, epoch)

  const made = join(output, `testops-admin_${version}_${architecture}.deb`)
  // a higher level saves a seventh of the size, and takes seven times as long
  const flags = ['--root-owner-group', '-Zxz', '-z1', '--build', tree, made]
  execFileSync('dpkg-deb', flags, {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return made
}

/**
 * Returns who answers for the package: the author in package.json. Debian demands an address (Policy 5.6.2). Where
 * package.json names nobody, the package says so: no name under .invalid is anybody's (RFC 2606).
 */
export function maintainer(author) {
  if (author === undefined) return 'the testops-admin authors <no-address@testops-admin.invalid>'
  if (!/^[^<>()\n]+ <[^\s<>@]+@[^\s<>@]+>$/.test(author))
    throw new Unable('the author in package.json must be "NAME <ADDRESS>"')
  return author
}

/** Returns the packages of the libraries whose symbols the program names, in the first versions that have them. */
function dependencies(file) {
  // all bytes, in which the name of a symbol's version stands between zeros
  const text = readFileSync(file, 'latin1')
  const newest = (prefix) =>
    Math.max(...[...text.matchAll(new RegExp(`(?<=\0)${prefix}\\.(\\d+)(?=[.\0])`, 'g'))].map(([, it]) => Number(it)))
  const [glibc, glibcxx] = [newest('GLIBC_2'), newest('GLIBCXX_3\\.4')]
  const gcc = gccOf[glibcxx]
  if (!Number.isFinite(glibc) || !gcc) throw new Error(`${file} names GLIBC_2.${glibc} and GLIBCXX_3.4.${glibcxx}`)
  return `libc6 (>= 2.${glibc}), libstdc++6 (>= ${gcc})`
}

/** Gives all files and folders the modes and times that they have in the package, whatever the umask and the clock. */
function settle(tree, epoch) {
  const all = readdirSync(tree, { recursive: true }).map((name) => join(tree, name))
  for (const path of [...all, tree]) {
    const isProgram = relative(tree, path).startsWith('usr/bin/')
    chmodSync(path, statSync(path).isDirectory() || isProgram ? 0o755 : 0o644)
    utimesSync(path, epoch, epoch)
  }
}
