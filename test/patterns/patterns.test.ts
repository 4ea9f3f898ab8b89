import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Linter } from 'eslint'
import regexp from 'eslint-plugin-regexp'
import { expect, test } from 'vitest'
import type { Attack } from './attacks.ts'
import { attacksOn } from './attacks.ts'
import { built } from './built.ts'
import { sitesIn, sitesOf } from './collect.ts'
import type { Site } from './collect.ts'
import { calmMs, growthOf, onceMs } from './growth.ts'
import { isCampaign } from '../support/campaign.ts'

const root = resolve(import.meta.dirname, '../..')
const sites = sitesIn(root)
const made = await madeAtLoad([...new Set(sites.filter(({ pattern }) => pattern === null).map(({ file }) => file))])

test('a pattern that is built of texts is made when its file is loaded, or has an example', () => {
  const later = sites
    .filter(({ pattern, file }) => pattern === null && !made.has(file))
    .map(({ file, text }) => ({ file, text }))
  expect(built.map(({ file, text }) => ({ file, text }))).toEqual(later)
})

// not before what its files make was seen
const { explainTexts } = await import('../../src/knowledge/explain/index.ts')
const ofTexts = explainTexts.flatMap(({ id, kind, patterns = [] }) =>
  patterns.map((pattern) => ({ where: `explain/${kind}s/${id}.yaml`, pattern })),
)

const patterns = new Map<string, { where: string; pattern: RegExp }>()
for (const { where, pattern } of [
  ...sites.flatMap((site) =>
    site.pattern ? [{ where: `${site.file}:${site.line}`, pattern: searched(site, site.pattern) }] : [],
  ),
  ...built.map(({ file, example }) => ({ where: file, pattern: example })),
  ...[...made].flatMap(([file, all]) => all.map((pattern) => ({ where: file, pattern }))),
  ...ofTexts,
]) {
  const at = patterns.get(String(pattern))
  patterns.set(String(pattern), { where: at ? `${at.where}, ${where}` : where, pattern })
}

const folderOf = ({ where }: { where: string }): string => where.split('/').slice(0, 2).join('/')
const folders = [...new Set([...patterns.values()].map(folderOf))].map(
  (folder) => [folder, [...patterns.values()].filter((it) => folderOf(it) === folder)] as const,
)

test.each(folders)(
  'patterns of %s take at most 20 times as long for ten times as much',
  { timeout: 900_000 },
  (_, all) => {
    expect(
      all.flatMap(({ where, pattern }) => slowAttacks(pattern).map((said) => `${where} ${String(pattern)} on ${said}`)),
    ).toEqual([])
  },
)

test('patterns of texts pass what eslint.config.js asks of those in src/', () => {
  const asked: Linter.Config = {
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false, ignorePartial: false }],
    },
  }
  const found = ({ where, pattern }: { where: string; pattern: RegExp }): string[] =>
    new Linter().verify(`use(${String(pattern)})`, asked).map(({ message }) => `${where} ${message}`)
  expect(ofTexts.length).toBeGreaterThan(15)
  expect(ofTexts.flatMap(found)).toEqual([])
  expect(found({ where: 'it', pattern: /\s+$/ })).not.toEqual([])
})

test('what takes the square of its length is found, and what has no end', { timeout: 120_000 }, () => {
  const slow = [
    '/\\s+$/',
    '/<[^>]*>/g',
    '/^(a|a)*$/',
    '/https?:.*!/s',
    '/^(?:0*\\d{1,4},)*$/',
    '/"(?:[^"\\\\]|\\\\.)*"/gs',
    '/\\{(\\w*applications),\\s*\\[([^\\]]*)\\]/g',
  ]
  const texts = [...slow, '/(?<!\\s)\\s+$/']
  const found = sitesOf('src/it.ts', texts.map((text) => `use(${text})`).join('\n')).filter(
    ({ pattern }) => slowAttacks(pattern!, 400).length > 0,
  )
  expect(found.map(({ text }) => text)).toEqual(slow)
})

/** What the pattern is too slow for: of all attacks those that take longest at a small size are tried at full size. */
function slowAttacks(pattern: RegExp, hangMs?: number): string[] {
  // what may have no end is tried on a little first, all at once: a limit of time takes longer than they do
  const all = attacksOn(pattern, 40_000)
  const little = all.map((attack) => task(pattern, attack)(100))
  if (onceMs(() => little.forEach((run) => run()), hangMs) === null) {
    const endless = all.find((_, index) => onceMs(little[index]!, hangMs) === null)
    return [`${endless?.shown ?? 'several attacks together'}: no end`]
  }
  // what takes the square of its length shows at a little already
  const tried: { attack: Attack; took: number }[] = []
  const tryAll = (): void =>
    attacksOn(pattern).forEach((attack) => tried.push({ attack, took: wallMs(task(pattern, attack)(1000)) }))
  if (onceMs(tryAll, hangMs) === null) return ['several attacks together, of 1000 characters each: no end']
  const slowest = tried.sort((one, other) => other.took - one.took).slice(0, isCampaign ? undefined : 4)
  const small: { attack: Attack; took: number }[] = []
  for (const { attack } of slowest) {
    const took = calmMs(task(pattern, attack)(5000), hangMs)
    if (took === null) return [`${attack.shown}: no end`]
    small.push({ attack, took })
  }
  const worst = small.sort((one, other) => other.took - one.took).slice(0, isCampaign ? 4 : 1)
  return worst.flatMap(({ attack }) => {
    const { isLinear, shown } = growthOf(task(pattern, attack), hangMs === undefined ? {} : { hangMs })
    return isLinear ? [] : [`${attack.shown}: ${shown}`]
  })
}

function wallMs(run: () => unknown): number {
  const from = performance.now()
  run()
  return performance.now() - from
}

function task(pattern: RegExp, attack: Attack): (length: number) => () => unknown {
  return (length) => {
    const text = attack.text(length)
    return pattern.global ? () => searchAll(pattern, text) : () => pattern.test(text)
  }
}

/** As `replace` and `matchAll` do, but nothing is kept, lest the memory is what is measured. */
function searchAll(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0
  for (let last = -1; pattern.test(text); last = pattern.lastIndex) {
    if (pattern.lastIndex === last) pattern.lastIndex += 1
  }
}

/** A pattern that text is split at, or that goes on from where it was, is tried everywhere. */
function searched({ isSplit }: Site, { source, flags }: RegExp): RegExp {
  const plain = flags.replaceAll(/[gy]/g, '')
  return new RegExp(source, isSplit || plain !== flags ? `${plain}g` : plain)
}

/** The patterns that files of src/ build while they are loaded, by file. */
async function madeAtLoad(files: readonly string[]): Promise<Map<string, RegExp[]>> {
  const found = new Map<string, RegExp[]>()
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct(target, given: [string, string?]) {
      const pattern = new target(...given)
      const frame = new Error('here').stack
        ?.split('\n')
        .find((line) => line.includes(`${root}/`) && !line.includes(import.meta.filename))
      const file = frame === undefined ? undefined : files.find((it) => frame.includes(`${root}/${it}`))
      if (file !== undefined) found.set(file, [...(found.get(file) ?? []), pattern])
      return pattern
    },
  })
  try {
    for (const file of files) await import(`${root}/${file}`)
  } finally {
    globalThis.RegExp = original
  }
  return found
}

test('every file with a pattern is read', () => {
  // counted by another way than the syntax tree
  const told = [...new Set(sites.map(({ file }) => file))].filter(
    (file) => !/\/[^/]|RegExp/.test(readFileSync(`${root}/${file}`, 'utf8')),
  )
  expect([sites.length > 500, told]).toEqual([true, []])
})
