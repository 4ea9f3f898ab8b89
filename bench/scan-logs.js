// Compares `scan-logs` with the usual tools and the same patterns, on a log in the page cache: the newest rg of npm,
// and the newest grep of Debian in the C.UTF-8 locale. grep runs with -i, since it ignores case for all patterns or for
// none.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fromSources } from './bundle.js'
import { inTurns, peakMemory, time } from './measure.js'
import { newest } from './newest.js'
import { writeServiceLog } from './service-log.js'

const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))
/** Maximum MB of memory; the row shows what it took. */
const most = 100

const versionOf = (tool) => execFileSync(tool, ['--version'], { encoding: 'utf8' }).match(/\d+(\.\d+)+/)[0]

export async function scanLogs() {
  const { signatures } = await fromSources("export {signatures} from './src/knowledge/signatures.ts'")
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  try {
    const [log, forRg, forGrep] = ['service.log', 'rg', 'grep'].map((name) => join(folder, name))
    execFileSync(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefix', folder, `@vscode/ripgrep-linux-${process.arch}`],
      { stdio: 'ignore' },
    )
    const rg = join(folder, `node_modules/@vscode/ripgrep-linux-${process.arch}/bin/rg`)
    const grep = await newest('grep')
    writeServiceLog(log, 2 ** 30)
    writeFileSync(
      forRg,
      signatures.map(({ pattern: { source, ignoreCase } }) => `${ignoreCase ? `(?i:${source})` : source}\n`).join(''),
    )
    writeFileSync(forGrep, signatures.map(({ pattern }) => `${pattern.source}\n`).join(''))
    const ours = [process.execPath, program, 'scan-logs', log, '--json']
    const env = { ...process.env, XDG_CONFIG_HOME: folder }
    const memory = await peakMemory(ours, { env, expected: 1 })
    console.log(`scan-logs took at most ${memory} MB of memory`)
    if (memory > most) throw new Error(`scan-logs took ${memory} MB of memory, more than ${most}`)
    const medians = await inTurns(
      {
        ours: () => time(ours, { env, expected: 1, output: 'pipe' }),
        rg: () => time([rg, '--no-config', '-a', '-c', '-f', forRg, log], { output: 'pipe' }),
        grep: () =>
          time([...grep.words, '-a', '-c', '-E', '-i', '-f', forGrep, log], {
            env: { ...process.env, LC_ALL: 'C.UTF-8' },
            output: 'pipe',
          }),
      },
      5,
    )
    const what = `\`scan-logs --json\` of 1 GiB on ${availableParallelism()} cores`
    const detail = `${memory} MB of memory`
    return [
      {
        what,
        detail,
        ours: medians.ours,
        peer: `\`rg -c\` with the same patterns, ripgrep ${versionOf(rg)}`,
        theirs: medians.rg,
        goal: 1,
      },
      {
        what,
        detail,
        ours: medians.ours,
        peer: `\`grep -E -i -c\` with the same patterns in C.UTF-8, grep ${grep.version}`,
        theirs: medians.grep,
        goal: 0.25,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
