import { RegExpParser } from '@eslint-community/regexpp'
import type { AST } from '@eslint-community/regexpp'

/** Texts of any length that are hard for a pattern. */
export interface Attack {
  shown: string
  text: (length: number) => string
}

/**
 * Texts made of what the pattern itself looks for: for each repetition in it, what leads there and then the repetition
 * pumped up, once and over and over; its own matches over and over; single characters of it; each with several ends
 * that spoil a match. Of more than so many units, every so many-th is taken.
 */
export function attacksOn(pattern: RegExp, most = 150): Attack[] {
  const parser = new RegExpParser()
  const ast = parser.parsePattern(pattern.source, undefined, undefined, {
    unicode: pattern.flags.includes('u'),
    unicodeSets: pattern.flags.includes('v'),
  })
  const units = new Map<string, { head: string; unit: string }>()
  const add = (head: string, unit: string): void => {
    if (unit !== '' && unit.length < 5000) units.set(JSON.stringify([head, unit]), { head, unit })
  }
  const walk = (alternatives: readonly AST.Alternative[], heads: readonly string[]): void => {
    for (const { elements } of alternatives) {
      let before = heads
      for (const element of elements) {
        const own = samplesOf(element, pattern)
        if (element.type === 'Quantifier') {
          for (const head of before) {
            for (const pump of samplesOf(element.element, pattern)) {
              add(head, pump)
              add('', head + pump)
              for (const other of own.slice(0, 3)) add('', head + other + pump)
            }
          }
          inside(element.element, before)
        } else inside(element, before)
        before = few(before.flatMap((head) => own.map((it) => head + it)))
      }
      for (const whole of before) {
        add('', whole)
        // what is missing at the end of a match makes it begin again and again
        for (let cut = 1; cut < Math.min(whole.length, 40); cut += 1) add('', whole.slice(0, -cut))
      }
    }
  }
  const inside = (element: AST.Element, heads: readonly string[]): void => {
    if (element.type === 'Group' || element.type === 'CapturingGroup' || element.type === 'Assertion') {
      if ('alternatives' in element) walk(element.alternatives, heads)
    }
  }
  walk(ast.alternatives, [''])
  for (const character of [' ', '\n', '\t', 'a', '0', ...new Set(pattern.source.match(/[^\\\w]/g))]) add('', character)
  return spread([...units.values()], most).flatMap(({ head, unit }) =>
    ['\n', '\u0001'].map((end) => ({
      shown: `${JSON.stringify(head)} + ${JSON.stringify(unit)} * n + ${JSON.stringify(end)}`,
      text: (length) => head + unit.repeat(Math.max(1, Math.floor(length / unit.length))) + end,
    })),
  )
}

/** characters of all kinds, of which each class gets some that it has */
const alphabet = [...' \n\t\r01a7bAZz_-.,:;/\\"\'`<>()[]{}@#?&=+*!$%^|~é\u2028']

function samplesOf(element: AST.Element, pattern: RegExp): string[] {
  switch (element.type) {
    case 'Assertion':
      return element.kind === 'lookbehind' && !element.negate
        ? few(element.alternatives.flatMap((it) => samplesOfAll(it.elements, pattern)))
        : ['']
    case 'Character':
      return [String.fromCodePoint(element.value)]
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      return charactersOf(element, pattern)
    case 'Backreference':
      return ['']
    case 'Quantifier': {
      const inner = samplesOf(element.element, pattern)
      const times = Math.max(element.min, element.max === 0 ? 0 : 1)
      const some = inner.map((it) => it.repeat(Math.min(times, 40)))
      return element.min === 0 ? ['', ...some] : some
    }
    default:
      return few(element.alternatives.flatMap((it) => few(samplesOfAll(it.elements, pattern), 2)))
  }
}

function samplesOfAll(elements: readonly AST.Element[], pattern: RegExp): string[] {
  return elements.reduce<string[]>(
    (before, element) => few(before.flatMap((head) => samplesOf(element, pattern).map((it) => head + it))),
    [''],
  )
}

function charactersOf({ raw }: AST.Element, { flags }: RegExp): string[] {
  const own = new RegExp(`^${raw}$`, flags.replaceAll(/[gym]/g, ''))
  const found = alphabet.filter((it) => own.test(it))
  return found.length > 0 ? spread(found, 6) : ['']
}

function spread<T>(all: readonly T[], count: number): T[] {
  return all.length <= count
    ? [...all]
    : Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]!)
}

function few(all: readonly string[], count = 6): string[] {
  return spread([...new Set(all)], count)
}
