import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SettingChange } from '../../../src/core/controls.ts'
import { composeWorld, recorded } from './world.ts'

const image = 'registry.example.org/qameta/testops:26.2.1'

interface Case {
  /** of the project, by their paths below it */
  files: Record<string, string>
  to?: string | null
  from?: string | null
  /** the file that is written, by what it holds then; or why it is refused */
  after: Record<string, string> | string
}

async function setIn({ files, to = 'true', from = 'false' }: Case): Promise<Record<string, string> | string> {
  const world = await composeWorld({ containers: [await recorded('stopped')] }, Object.fromEntries(Object.entries(files).map(([name, text]) => [`project/${name}`, text])))
  const control = await (await world.open()).control()
  const change: SettingChange = { name: 'A', from, to }
  const said = await control.writeSetting(change).catch((error: Error) => error.message.replaceAll(world.folder, ''))
  const now = await Promise.all(Object.entries(files).map(async ([name, text]) => ({ name, text, is: await readFile(join(world.folder, 'project', name), 'utf8') })))
  const changed = now.filter(({ text, is }) => is !== text)
  return said === 'set' && changed.length > 0 ? Object.fromEntries(changed.map(({ name, is }) => [name, is])) : [said, ...changed.map(({ name }) => name)].join(' ')
}

const service = (more: string, name = 'testops'): string => `services:\n  ${name}:\n    image: ${image}\n${more.replace(/^(?=.)/gm, '    ')}`
const own = 'environment:\n  A: "false"\n'
const main = 'include:\n  - app/compose.yml\n'
const extending = (more = ''): string => `services:\n  testops:\n    extends: {file: common/base.yml, service: base}\n${more}`
const chained = (more = ''): string => `services:\n  middle:\n    extends: {file: common/base.yml, service: base}\n  testops:\n    extends: {service: middle}\n${more}`

test.each<[string, Case]>([
  ['in a file that is included', { files: { 'docker-compose.yml': main, 'app/compose.yml': service(own) }, after: { 'app/compose.yml': service(own.replace('false', 'true')) } }],
  ['in one that such a file includes, by its long form', { files: { 'docker-compose.yml': main, 'app/compose.yml': 'include:\n  - path: [a.yml, b.yml]\n    project_directory: ..\n', 'app/a.yml': service(own), 'app/b.yml': 'services: {testops: {restart: always}}\n' }, after: { 'app/a.yml': service(own.replace('false', 'true')) } }],
  ['in .env, for a file that is included', { files: { 'docker-compose.yml': main, 'app/compose.yml': service('environment:\n  A: ${X}\n'), '.env': 'X=false\n' }, after: { '.env': 'X=true\n' } }],
  ['in a file that is included, where nothing has it yet', { files: { 'docker-compose.yml': main, 'app/compose.yml': service('restart: always\n') }, from: null, after: { 'app/compose.yml': service('restart: always\nenvironment:\n  A: "true"\n') } }],
  ['of its own, above what it extends', { files: { 'docker-compose.yml': extending(), 'common/base.yml': service(own, 'base') }, after: { 'docker-compose.yml': extending('    environment:\n      A: "true"\n') } }],
  ['of its own, above what that extends in turn', { files: { 'docker-compose.yml': chained(), 'common/base.yml': service(own, 'base') }, after: { 'docker-compose.yml': chained('    environment:\n      A: "true"\n') } }],
  ['in .env, for what it extends', { files: { 'docker-compose.yml': extending(), 'common/base.yml': service('environment: [A=$X]\n', 'base'), '.env': 'X=false\n' }, after: { '.env': 'X=true\n' } }],
  ['in a file of settings of what it extends', { files: { 'docker-compose.yml': extending(), 'common/base.yml': service('env_file:\n  - path: own.env\n    required: false\n', 'base'), 'common/own.env': 'A=false\n' }, after: { 'common/own.env': 'A=true\n' } }],
  ['where a merge leaves it to be', { files: { 'docker-compose.yml': `x-env: &e\n  A: "false"\n${service('environment:\n  <<: *e\n  B: c\n')}` }, after: { 'docker-compose.yml': `x-env: &e\n  A: "false"\n${service('environment:\n  <<: *e\n  B: c\n  A: "true"\n')}` } }],
  ['of a service that takes a profile to be there', { files: { 'docker-compose.yml': service(`profiles: [prod]\n${own}`) }, after: { 'docker-compose.yml': service(`profiles: [prod]\n${own.replace('false', 'true')}`) } }],
  ['beside what compose resets', { files: { 'docker-compose.yml': service(`ports: !reset []\n${own}`) }, after: { 'docker-compose.yml': service(`ports: !reset []\n${own.replace('false', 'true')}`) } }],
])('is written %s', async (_, it) => expect(await setIn(it)).toEqual(it.after))

test.each<[string, Case]>([
  ['from what it extends', { files: { 'docker-compose.yml': extending(), 'common/base.yml': service(own, 'base') }, to: null, after: 'A cannot be set: it comes from service base in /project/common/base.yml, which testops extends: it can be set to something else, and not be taken away' }],
  ['by a variable that counts for what is included alone', { files: { 'docker-compose.yml': main, 'app/compose.yml': service('environment:\n  A: ${X}\n'), 'app/.env': 'X=false\n' }, after: 'A cannot be set: it comes from X in /project/app/.env, which counts only for what is included there' }],
  ['in a file of settings that another service reads', { files: { 'docker-compose.yml': `${service('env_file: own.env\n')}  worker:\n    image: w:1\n    env_file: [own.env]\n`, 'own.env': 'A=false\n' }, after: 'A cannot be set: /project/own.env has it, which worker reads too' }],
])('is left %s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
