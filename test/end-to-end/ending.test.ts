import { expect, onTestFinished, test } from 'vitest'
import { freshPlace } from './program.ts'

// if Node ended the process by itself, a signal that came in the last moment would take the place of the exit code
test('a command ends its process itself, before Node does', async () => {
  const place = await freshPlace({ isApart: true })
  onTestFinished(async () => place.remove())
  const watching = await place.write(
    'watching.cjs',
    `const { exit } = process
     let asked = false
     process.exit = (...code) => { asked = true; exit.apply(process, code) }
     const said = (code) => (asked ? 'by exit' : 'by itself') + ' with ' + code
     process.on('exit', (code) => require('node:fs').writeSync(2, said(code)))`,
  )
  const { exitCode, stderr } = await place.run(['explain', '--nothing'], {
    environment: { NODE_OPTIONS: `--require ${watching}` },
  })
  expect([exitCode, stderr.slice(stderr.lastIndexOf('by '))]).toEqual([64, 'by exit with 64'])
})
