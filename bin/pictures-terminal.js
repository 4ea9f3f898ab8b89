#!/usr/bin/env node
// Draws the drill of docs/lab.md: runs a drill in a lab of its own, and writes what the terminal showed as a picture,
// docs/pictures/drill.svg.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('run.js', import.meta.url))
const picture = fileURLToPath(new URL('../docs/pictures/drill.svg', import.meta.url))
const parent = mkdtempSync(join(tmpdir(), 'testops-admin-picture-'))
const environment = {
  ...process.env,
  TESTOPS_ADMIN_LAB_DIR: join(parent, 'lab'),
  XDG_STATE_HOME: join(parent, 'state'),
  SHELL: '/bin/sh',
  TERM: 'xterm',
}
delete environment.NO_COLOR

/** Draws stale-sessions/ahead, which is shown in a few lines. */
const seed = 38

/** What is typed. `keep`: the lines of the answer to show, all if left out. */
const scenes = [
  { type: `lab drill --seed ${seed}` },
  { type: 'doctor -d lab', keep: (lines) => lines.slice(-2) },
  { type: 'lab drill --answer service/clocks', keep: (lines) => lines.slice(0, 1) },
  { type: 'lab drill --answer sessions/clock', keep: (lines) => lines.slice(0, 1) },
  { type: 'flush-sessions --stale -d lab --confirm lab', keep: (lines) => lines.filter((line) => /Done/.test(line)) },
  { type: 'lab drill --done' },
]

/**
 * Runs the program on a terminal, since it prints colours only there. Returns what it printed on standard output.
 * Throws if it exits with another code than these.
 */
function run(words, exitCodes = [0, 1, 2]) {
  return new Promise((resolve, reject) => {
    const typed = [`"${process.execPath}"`, `"${program}"`, ...words].join(' ')
    const child = spawn('script', ['-qefc', `stty cols 92; ${typed} 2>/dev/null`, '/dev/null'], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (bytes) => (output += bytes))
    child.once('error', reject)
    child.once('close', (exitCode) =>
      exitCodes.includes(exitCode) ? resolve(output) : reject(new Error(`${words.join(' ')} exited with ${exitCode}`)),
    )
  })
}

async function play() {
  const lines = []
  await run(['lab', 'up'], [0])
  for (const { type, keep = (all) => all } of scenes) {
    const output = await run(type.split(' '))
    lines.push(`\u001b[1m$ testops-admin ${type}\u001b[0m`, ...keep(output.trimEnd().split(/\r*\n/)), '')
  }
  return lines.slice(0, -1)
}

const colours = { 1: 'strong', 2: 'faint', 31: 'bad', 32: 'good', 33: 'warn', 35: 'doubt' }
const escaped = (text) => text.replace(/[&<>]/g, (it) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[it])

/** Turns the colours of one line into spans. */
function spans(line) {
  let style = ''
  let made = ''
  for (const part of line.split(/(\u001b\[\d+m)/)) {
    const code = /^\u001b\[(\d+)m$/.exec(part)?.[1]
    if (code !== undefined) style = colours[code] ?? ''
    else if (part !== '') made += style ? `<tspan class="${style}">${escaped(part)}</tspan>` : escaped(part)
  }
  return made
}

const [character, row, margin] = [8.4, 20, 16]

function draw(lines) {
  const plain = lines.map((line) => line.replace(/\u001b\[\d+m/g, ''))
  const width = Math.ceil(Math.max(...plain.map(({ length }) => length)) * character + 2 * margin)
  const height = lines.length * row + 2 * margin
  const texts = lines.map((line, at) => `<text x="${margin}" y="${margin + 14 + at * row}">${spans(line)}</text>`)
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" ${size} role="img">
<title>A drill in a terminal</title>
<style>
rect { fill: #0d1117 }
text { fill: #e6edf3; font: 14px "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre }
.strong { font-weight: bold }
.faint { fill: #9198a1 }
.good { fill: #3fb950 }
.bad { fill: #ff7b72 }
.warn { fill: #d29922 }
.doubt { fill: #d2a8ff }
</style>
<rect width="${width}" height="${height}" rx="8"/>
${texts.join('\n')}
</svg>
`
}

try {
  const lines = await play()
  mkdirSync(dirname(picture), { recursive: true })
  // the folder of this lab says nothing to a reader
  writeFileSync(picture, draw(lines).replaceAll(parent, '/home/me/.local/state/testops-admin'))
  console.log(`${picture} written`)
} finally {
  await run(['lab', 'down'], [0, 1, 69]).finally(() => rmSync(parent, { recursive: true, force: true }))
}
