import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { filesSource } from '../../../src/adapters/settings-file/index.ts'
import { chartKeys } from '../../../src/knowledge/chart.ts'
import { unfitMaps, unfitSingle } from '../../../src/repairs/files/known-chart.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

const source = filesSource()

async function filesWith(texts: readonly string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-unfit-'))
  onTestFinished(async () => rm(folder, { recursive: true }))
  const files = texts.map((_, index) => join(folder, `${index}.yaml`))
  for (const [index, file] of files.entries()) await writeFile(file, texts[index]!)
  return files
}

/** What no map is, as `key in file`. */
async function unfit(texts: readonly string[], own: readonly string[] = []): Promise<string[]> {
  const files = await filesWith(texts)
  const found = await unfitMaps(source, files, { own, all: [] })
  return found.map(({ key, file, line }) => `${key} in ${files.indexOf(file)}:${line}`)
}

/** True if the real helm makes objects of both charts with all values, in which the settings have their names. */
async function isRead(texts: readonly string[]): Promise<boolean> {
  const { helm } = await kubernetesTools()
  const values = (await filesWith(texts)).flatMap((file) => ['-f', file])
  const charts = ['chart', 'charts/vendor'].map((name) => join(import.meta.dirname, '../../fixtures', name))
  try {
    for (const chart of charts) {
      const { stdout } = await promisify(execFile)(helm, ['template', 'testops', chart, ...values])
      if (/\bname: 0\b/.test(stdout) || /image: .*(?:map\[|\[a\])/.test(stdout)) return false
    }
    return true
  } catch {
    return false
  }
}

describe('values that real helm makes nothing of, or something else, are unfit', () => {
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [['env: production\n'], ['env in 0:1']],
    [['env:\n'], ['env in 0:1']],
    [['env: {open: [VENDOR_RABBIT_DURABLE=true]}\n'], ['env.open in 0:1']],
    [['env: {open: VENDOR_RABBIT_DURABLE}\n'], ['env.open in 0:1']],
    [['env:\n  open:\n  # nothing yet\n'], []],
    [['env: {open: {}}\nimage: {}\n'], []],
    [['version: 527u02\n'], []],
    [['image: [testops]\n'], ['image in 0:1']],
    [['image: testops\n'], ['image in 0:1']],
    [['version: 527u02\nimage:\n'], ['image in 0:2']],
    [['null\n'], []],
    [['image: {imageName: testops-legacy}\n', 'image:\n'], ['image in 1:1']],
    [['image: testops\n', 'image: {imageName: testops-legacy}\n'], []],
    [['env: {open: [a]}\n', 'env: {open: {VENDOR_RABBIT_DURABLE: "true"}}\n'], []],
    [['env: {open: [a]}\n', 'env: 5\n'], ['env in 1:1']],
  ]
  test.each(cases)('%j: %j', async (texts, expected) => {
    expect(await unfit(texts)).toEqual(expected)
    expect(await isRead(texts)).toBe(expected.length === 0)
  })
})

test('a chart below another one may have no values, and no text in their place', async () => {
  expect(await unfit(['testops: [a]\n'], ['testops'])).toEqual(['testops in 0:1'])
  expect(await unfit(['testops: text\n'], ['testops'])).toEqual(['testops in 0:1'])
  expect(await unfit(['testops:\n'], ['testops'])).toEqual([])
  expect(await unfit(['testops: {image: [a]}\n'], ['testops'])).toEqual(['testops.image in 0:1'])
})

test('values that a manifest holds as text are no wrong kind', async () => {
  const own = ['spec', 'source', 'helm', 'values']
  const text = (values: string): string =>
    `apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n    helm:\n      values: ${values}\n`
  const found = async (values: string): Promise<unknown> =>
    (await unfitMaps(source, await filesWith([text(values)]), { own, all: own })).map(({ key, line }) => [key, line])
  expect(await found('|\n        version: 527u02\n        image: [a]\n')).toEqual([[[...own, 'image'].join('.'), 8]])
  expect(await found('"version: 527u02"')).toEqual([])
})

describe('a name that real helm makes no name of is unfit', () => {
  const cases: readonly (readonly [string, boolean])[] = [
    ['image: {imageName: {a: b}}\n', true],
    ['image: {imageName: {}}\n', true],
    ['image: {imageName: [a]}\n', true],
    ['image: {imageName: testops}\n', false],
    ['image: {imageName: 2026-01-01}\n', false],
    // then the chart takes the repository
    ['image: {imageName: }\n', false],
    ['image: {}\n', false],
    ['version: 527u02\n', false],
  ]
  test.each(cases)('%j: %j', async (text, expected) => {
    const found = await unfitSingle(source, await filesWith([text]), chartKeys.imageName)
    expect(found === null ? null : [found.key, found.needs, found.line]).toEqual(
      expected ? ['image.imageName', 'a single value', 1] : null,
    )
    expect(await isRead([text])).toBe(!expected)
  })
})

test('only where it is asked for, an empty value is unfit', async () => {
  const files = await filesWith(['version:\n'])
  expect(await unfitSingle(source, files, chartKeys.version)).toBe(null)
  expect((await unfitSingle(source, files, chartKeys.version, { orEmpty: true }))?.key).toBe('version')
})
