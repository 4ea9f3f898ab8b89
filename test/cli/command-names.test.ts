import { describe, expect, test } from 'vitest'
import { readWords } from '../../src/cli/command-names.ts'
import type { Wish } from '../../src/cli/command-names.ts'

const ids = ['checks', 'doctor', 'explain', 'lab:up', 'lab:down', 'lab:break']
const read = (line: string): Wish => readWords(line.split(' ').filter(Boolean), ids, 'tool')
const help = (...names: string[]): Wish => ({ kind: 'help', names })
const command = (id: string, ...rest: string[]): Wish => ({ kind: 'command', id, rest })

describe('what the words ask for', () => {
  test.each<[line: string, wish: Wish]>([
    ['', { kind: 'begin' }],
    ['--help', help()],
    ['-h', help()],
    ['help', help()],
    ['--version', { kind: 'version' }],
    ['-v', { kind: 'version' }],
    ['help doctor', help('doctor')],
    ['help lab break', help('lab', 'break')],
    ['doctor -h', help('doctor')],
    ['doctor broker --help', help('doctor')],
    ['lab', help('lab')],
    ['lab --help', help('lab')],
    ['lab --json', help('lab')],
    ['doctor', command('doctor')],
    ['doctor --json', command('doctor', '--json')],
    ['doctor broker', command('doctor', 'broker')],
    ['lab up', command('lab:up')],
    ['lab break stuck-lock -d lab', command('lab:break', 'stuck-lock', '-d', 'lab')],
    ['explain lab pu', command('explain', 'lab', 'pu')],
    ['explain -- --help', command('explain', '--', '--help')],
  ])('%j', (line, wish) => expect(read(line)).toEqual(wish))
})

describe('words that name no command', () => {
  test.each<[line: string, message: string, suggestions: string[]]>([
    ['docter', '`docter` is not a command of tool', ['tool doctor', 'tool --help']],
    ['zebra --json', '`zebra` is not a command of tool', ['tool --help']],
    ['zebra --help', '`zebra` is not a command of tool', ['tool --help']],
    ['help docter', '`docter` is not a command of tool', ['tool doctor', 'tool --help']],
    ['lab brake stuck-lock', '`lab brake` is not a command of tool', ['tool lab break', 'tool lab --help']],
    ['lba up', '`lba` is not a command of tool', ['tool lab', 'tool --help']],
    ['do', '`do` is not a command of tool', ['tool --help']],
    ['--json doctor', 'put flags after the command: `tool COMMAND --json`', ['tool --help']],
  ])('%j', (line, message, suggestions) => {
    let thrown: unknown
    try {
      read(line)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ code: 'USAGE', message, suggestions })
  })
})
