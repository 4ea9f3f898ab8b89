import { expect, test } from 'vitest'
import { phash2 } from '../../src/knowledge/argument-types.ts'
import type { Term } from '../../src/knowledge/argument-types.ts'

const bytes = (text: string): Buffer => Buffer.from(text)
const tuple = (...all: readonly Term[]): Term => ({ tuple: all })
const atom = (name: string): Term => ({ atom: name })

/** What `rabbitmqctl eval 'erlang:phash2(TERM, 1 bsl 32).'` says on Erlang 25, 27 and 28. */
test.each<[string, Term, number]>([
  ['5', 5n, 676_967_202],
  ['-5', -5n, 517_668_864],
  ['0', 0n, 3_175_731_469],
  ['134217727', 134_217_727n, 4_273_352_567],
  ['134217728', 134_217_728n, 2_562_491_755],
  ['-134217728', -134_217_728n, 874_979_335],
  ['-134217729', -134_217_729n, 1_418_916_782],
  ['576460752303423488', 576_460_752_303_423_488n, 2_442_888_721],
  ['9223372036854775807', 9_223_372_036_854_775_807n, 2_712_534_173],
  ['-9223372036854775808', -9_223_372_036_854_775_808n, 1_736_826_119],
  ['5.5', 5.5, 2_225_534_060],
  ['0.0', 0, 423_528_920],
  ['-1.25e10', -1.25e10, 352_244_709],
  ['true', atom('true'), 506_293],
  ['unsignedshort', atom('unsignedshort'), 132_130_980],
  ['[]', [], 3_468_870_702],
  ['{}', tuple(), 221_703_996],
  ['{{},{}}', tuple(tuple(), tuple()), 3_343_292_132],
  ['{a,[]}', tuple(atom('a'), []), 475_258_904],
  ['<<>>', bytes(''), 147_926_629],
  ['{<<>>,<<>>}', tuple(bytes(''), bytes('')), 1_754_288_216],
  ['<<"a">>', bytes('a'), 1_589_197_455],
  ['<<"abcdefgh">>', bytes('abcdefgh'), 3_561_888_030],
  ['<<"abcdefghi">>', bytes('abcdefghi'), 2_087_839_144],
  ['<<"abcdefghijkl">>', bytes('abcdefghijkl'), 686_521_495],
  ['<<"abcdefghijklm">>', bytes('abcdefghijklm'), 3_501_102_500],
  ['[{<<"x">>,byte,5}]', [tuple(bytes('x'), atom('byte'), 5n)], 681_037_186],
  [
    '[{<<"x">>,byte,-5},{<<"y">>,array,[{void,undefined},{bool,false}]}]',
    [
      tuple(bytes('x'), atom('byte'), -5n),
      tuple(bytes('y'), atom('array'), [tuple(atom('void'), atom('undefined')), tuple(atom('bool'), atom('false'))]),
    ],
    909_064_764,
  ],
])('the hash of %s is as Erlang has it', (_, term, hash) => {
  expect(phash2(term)).toBe(hash)
})
