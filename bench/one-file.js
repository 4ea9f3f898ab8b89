// Compares the one executable file, as hosts without Node take it, with the package that npm installs.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inTurns, time } from './measure.js'

const pathOf = (name) => fileURLToPath(new URL(`../bin/${name}`, import.meta.url))

const rows = [['--version'], ['explain', 'database/changelog-lock'], ['checks']]

export async function oneFile() {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  try {
    const flags = ['--arch', process.arch, '--no-deb', '--output', folder]
    execFileSync(process.execPath, [pathOf('package.js'), ...flags], { stdio: 'ignore' })
    const file = join(folder, `testops-admin-linux-${process.arch}`)
    const megabytes = Math.round(statSync(file).size / 1e6)
    const runs = Object.fromEntries(
      rows.flatMap((words) => [
        [`file ${words.join(' ')}`, () => time([file, ...words])],
        [`package ${words.join(' ')}`, () => time([process.execPath, pathOf('run.js'), ...words])],
      ]),
    )
    const medians = await inTurns(runs, 21)
    return rows.map((words) => ({
      what: `start-up of \`${words.join(' ')}\` from one file`,
      detail: `${megabytes} MB`,
      ours: medians[`file ${words.join(' ')}`],
      peer: `\`node bin/run.js\`, node ${process.version}`,
      theirs: medians[`package ${words.join(' ')}`],
      goal: 1.2,
    }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
