import { execFile } from 'node:child_process'
import { chmod, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { debianFiles, debianProgram } from '../support/debian-program.ts'
import { passingFolder } from '../support/passing-folder.ts'
import { onTerminal } from '../support/terminal.ts'

const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
/** Two with own checks, one whose name is no word, and one whose entry is wrong. */
const configuration =
  'deployments:\n  prod: {url: "https://a.example.org", checks: [outbox.mjs]}\n  $(touch planted): {}\n' +
  '  staging: {url: "https://b.example.org", checks: [outbox.mjs, waiting.mjs]}\n  wrong: {urll: x}\n'

/** A folder with a configuration, some of whose names are no names, and with this program in `bin`. */
async function place(): Promise<{ folder: string; env: NodeJS.ProcessEnv }> {
  const folder = await passingFolder()
  await writeFile(join(folder, 'testops-admin.yaml'), configuration, { mode: 0o600 })
  const own = join(folder, 'testops-admin')
  await writeFile(own, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  await chmod(own, 0o755)
  return { folder, env: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder, TERM: 'xterm' } }
}

async function said(shell: string, words: readonly string[], of: Awaited<ReturnType<typeof place>>): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(shell, words, { cwd: of.folder, env: of.env }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout),
    )
  })
}

test('bash completes commands, flags, checks and deployments, and takes no name that is more than a word', async () => {
  const here = await place()
  const script = `source <(testops-admin completion bash)
try() {
  COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); COMPREPLY=()
  _testops_admin; echo "\${COMPREPLY[*]}"
}
try testops-admin doct
try testops-admin doctor --dry
try testops-admin doctor --only = broker/a
try testops-admin doctor -d ''
try testops-admin doctor --output x
try testops-admin doctor --only own/
try testops-admin doctor -d prod --only own/
try testops-admin doctor --only own/outbox own/w
try testops-admin doctor -d prod -d s`
  expect(await said('bash', ['--norc', '-c', script], here)).toBe(
    'doctor\n--dry-run\nbroker/alarms\nprod staging wrong\n\nown/outbox own/waiting\nown/outbox\nown/waiting\n' +
      'staging\n',
  )
  expect(await readdir(here.folder)).not.toContain('planted')
}, 120_000)

test('fish completes them with what they mean', async () => {
  const here = await place()
  const fish = await debianProgram({ name: 'fish', packageName: 'fish', path: 'usr/bin/fish', megabytes: 10 })
  const script = `testops-admin completion fish | source
for line in 'testops-admin lab br' 'testops-admin doctor -d ' 'testops-admin doctor --only=broker/al'
  complete -C $line
end`
  expect(await said(fish, ['--no-config', '-c', script], here)).toBe(
    'break\tBreak the practice deployment\nprod\thost\nstaging\thost\nwrong\tits entry is wrong\n' +
      '--only=broker/alarms\tthe broker has no alarm\n',
  )
}, 240_000)

test('zsh completes them on a terminal', async () => {
  const { folder, env } = await place()
  // the package has a bin/zsh of its own, which the starter must not replace
  const zsh = await debianProgram({ name: 'own-zsh', packageName: 'zsh', path: 'bin/zsh', megabytes: 5 })
  const root = dirname(dirname(zsh))
  const common = await debianFiles('zsh-common')
  const setUp = `fpath=(${common}/usr/share/zsh/functions/**/(N) $fpath)
module_path=(${root}/usr/lib/*/zsh/*(N/) $module_path)
autoload -Uz compinit; compinit -u -D
PROMPT='ready> '
source <(testops-admin completion zsh)
`
  await writeFile(join(folder, '.zshrc'), setUp)
  const { text } = await onTerminal(`'${zsh}' -i`, {
    cwd: folder,
    env: { ZDOTDIR: folder, PATH: env['PATH']!, HOME: folder },
    answers: [
      [/ready> /, 'testops-admin lab br\t', 500],
      [/lab break/, '\u0015testops-admin doctor -d s\t', 500],
      [/-d staging/, '\u0015testops-admin doctor --only own/w\t', 500],
      [/--only own\/waiting/, '\u0015exit\r', 500],
    ],
  })
  expect(text).toContain('testops-admin lab break')
  expect(text).toContain('-d staging')
  expect(text).toContain('--only own/waiting')
}, 240_000)

test.each(['bash', 'fish'] as const)(
  '%s completes files where one may stand, not for a deployment',
  async (shell) => {
    const here = await place()
    await writeFile(join(here.folder, 'testops-admin.yaml'), 'deployments: [', { mode: 0o600 })
    await writeFile(join(here.folder, 'some-file'), '')
    if (shell === 'bash') {
      const script = `source <(testops-admin completion bash)
compopt() { echo "files: $*"; }
try() {
  COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); COMPREPLY=()
  _testops_admin; echo "\${#COMPREPLY[@]}"
}
try testops-admin lint-results some
try testops-admin doctor -d some`
      expect(await said('bash', ['--norc', '-c', script], here)).toBe('files: -o default\n0\n0\n')
      return
    }
    const fish = await debianProgram({ name: 'fish', packageName: 'fish', path: 'usr/bin/fish', megabytes: 10 })
    const common = await debianFiles('fish-common')
    const script = `set -p fish_function_path ${common}/usr/share/fish/functions
testops-admin completion fish | source
for line in 'testops-admin lint-results some' 'testops-admin doctor -d some'
  echo (count (complete -C $line))
end`
    expect(await said(fish, ['--no-config', '-c', script], here)).toBe('1\n0\n')
  },
  240_000,
)
