import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildCommands } from '../support/build-server.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace()
})
afterEach(async () => place.remove())

const names = [
  '##vso[task.setvariable variable=x]y',
  '::error file=a::b',
  "##teamcity[message text='x']",
  'a\n::set-output name=a::b',
]

test.each(names)(
  'names, messages and arguments with %j make no line that a build server obeys',
  { timeout: 120_000 },
  async (name) => {
    const at = (...path: string[]): string => join(place.directory, ...path)
    await mkdir(at('results', name), { recursive: true })
    const bad = {
      uuid: 'u',
      name,
      fullName: name,
      status: name,
      labels: [
        { name: 'AS_ID', value: name },
        { name: 'tag', value: `${name} `.repeat(30) },
      ],
      parameters: [{ name, value: `${name} 2026-11-21 02:12:44` }],
      attachments: [{ source: name }, { source: `${name}/x.txt` }],
    }
    for (const [file, content] of Object.entries({
      [`${name}-result.json`]: bad,
      [`${name} 2-result.json`]: { ...bad, name: 'other' },
      'b-result.json': { ...bad, parameters: name },
    }))
      await writeFile(at('results', file), JSON.stringify(content))
    await writeFile(at('results', 'cut-result.json'), `{"name": "${name}", ${name}`)
    await writeFile(at('results', name, 'x-attachment.txt'), 'x')
    await symlink('/etc/passwd', at('results', `${name}.txt`))
    await writeFile(
      at(`${name}.log`),
      [
        'java.net.UnknownHostException: evil.example.org',
        `HTTP FAILED: ${name}`,
        `${name} HTTP FAILED: java.net.UnknownHostException: ${name}`,
        '<-- 400 http://a ',
      ]
        .map((line) => `2026-11-22 10:00:00.000 ERROR 1 --- [main] a.B : ${line}\n`)
        .join(''),
    )
    await writeFile(at('broken.yaml'), `deployments: {x: {${JSON.stringify(name)}: 1, url: ${JSON.stringify(name)}}}\n`)
    const commands = [
      ...['table', 'junit', 'sarif', 'markdown', 'json'].map((format) => [
        'lint-results',
        'results',
        '--format',
        format,
      ]),
      ['lint-results', 'results', '--ci'],
      ['lint-results', 'results', '--verbose'],
      ['lint-results', 'results', '--fix', '--output', name.replace('/', '_')],
      ['lint-results', name],
      ['lint-results', 'results', '--rule', name],
      ['lint-results', 'results', '--settings', name],
      ['scan-logs', `${name}.log`],
      ['scan-logs', `${name}.log`, '--json'],
      ['scan-logs', name],
      ['explain', name],
      ['explain', name, '--json'],
      ['doctor', '--config', 'broken.yaml', '-d', name],
      ['doctor', '--config', name],
      ['doctor', `--${name}`],
      ['check-cpu', '--file', name],
      [name],
    ]
    for (const words of commands) {
      const { stdout, stderr, exitCode } = await place.run(words)
      expect([words, buildCommands(stdout), buildCommands(stderr), exitCode === 70]).toEqual([words, [], [], false])
    }
  },
)
