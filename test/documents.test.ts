import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isThere, pageText, root } from './support/pages.ts'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].sort()
const withoutCode = (text: string): string => text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '')

function linksOf(page: string): string[] {
  return [...withoutCode(pageText(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)
}

interface Manifest {
  commands: Record<string, { flags: Record<string, { name: string; char?: string; allowNo?: boolean }> }>
}

test.each(pages)('every link of %s leads somewhere', (page) => {
  const broken = linksOf(page).filter((link) => {
    if (/^https?:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : relative(root, resolve(root, dirname(page), path))
    return !isThere(anchor === undefined ? target : `${target}#${anchor}`)
  })
  expect(broken).toEqual([])
})

test('every page is reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const page of reached) {
    for (const link of linksOf(page)) {
      const target = relative(root, resolve(root, dirname(page), link.split('#')[0]!))
      if (pages.includes(target)) reached.add(target)
    }
  }
  expect(pages.filter((page) => !reached.has(page))).toEqual([])
})

test('the README is short, and every page begins with its one title', () => {
  expect(Buffer.byteLength(pageText('README.md'))).toBeLessThanOrEqual(16_000)
  expect(
    pages.filter(
      (page) =>
        !/^# .+\n/.test(pageText(page)) ||
        pageText(page)
          .replace(/^```[^]*?^```/gm, '')
          .match(/^# /gm)?.length !== 1,
    ),
  ).toEqual([])
})

describe('commands in the documents', () => {
  const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as Manifest
  const lines = pages
    .filter((page) => page === 'README.md' || page.startsWith('docs/'))
    .flatMap((page) =>
      [...pageText(page).matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block]) =>
        block!.split('\n').map((line) => ({ page, line })),
      ),
    )
    .flatMap(({ page, line }) =>
      line.split(/[|&]+/).map((part) => ({ page, words: part.replace(/ #.*/, '').trim().split(/\s+/) })),
    )
    .filter(({ words: [program] }) => program === 'testops-admin')

  test('there are some', () => expect(lines.length).toBeGreaterThan(80))

  test('are commands with flags of theirs', () => {
    const wrong = lines.filter(({ words: [, ...words] }) => {
      const id = [words.slice(0, 2).join(':'), words[0] ?? ''].find((it) => Object.hasOwn(commands, it))
      if (id === undefined) return words[0] !== '--version'
      const flags = Object.values(commands[id]!.flags).flatMap(({ name, char, allowNo }) => [
        `--${name}`,
        ...(char === undefined ? [] : [`-${char}`]),
        ...(allowNo === true ? [`--no-${name}`] : []),
      ])
      return words.filter((it) => /^--?[a-z]/.test(it)).some((it) => !flags.includes(it.split('=')[0]!))
    })
    expect(wrong).toEqual([])
  })
})
