import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { checks } from '../../src/checks/index.ts'
import { AdminError } from '../../src/core/error.ts'
import { explainEntries } from '../../src/knowledge/explain/index.ts'
import { tables } from './tables.ts'

const ids = checks.map(({ id }) => id)

describe('the catalogue of checks', () => {
  it('holds every file of src/checks once, and ids are their paths', async () => {
    const folder = new URL('../../src/checks/', import.meta.url)
    const files = (await readdir(folder, { recursive: true })).filter(
      (name) => /^[a-z]+\/.+\.ts$/.test(name) && !name.startsWith('support/'),
    )
    expect([...ids].sort()).toEqual(files.map((name) => name.replace(/\.ts$/, '')).sort())
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has one table of situations for each check', () => {
    expect(tables.map(({ check }) => check.id)).toEqual(ids)
  })

  it('is grouped by what is looked at', () => {
    const groups = ids.map((id) => id.split('/')[0])
    expect(groups).toEqual([...groups].sort((a, b) => groups.indexOf(a) - groups.indexOf(b)))
  })

  it('names one guard at most for each source', () => {
    const guarded = checks.flatMap(({ guards }) => guards ?? [])
    expect(new Set(guarded).size).toBe(guarded.length)
    for (const { guards, reads } of checks) if (guards) expect(reads).toContain(guards)
  })

  it('explains only checks that exist, never itself, and in no circle', () => {
    const causes = new Map(checks.map(({ id, explains }) => [id, explains ?? []]))
    const visit = (id: string, path: readonly string[]): void => {
      expect(path, `a circle: ${[...path, id].join(' -> ')}`).not.toContain(id)
      for (const next of causes.get(id)!) visit(next, [...path, id])
    }
    for (const [id, explained] of causes) {
      expect(ids).toEqual(expect.arrayContaining([...explained]))
      expect(new Set(explained).size).toBe(explained.length)
      visit(id, [])
    }
  })
})

describe.each(checks.map((check) => ({ check })))('$check.id', ({ check }) => {
  const cases = tables.find((table) => table.check === check)?.cases ?? []

  it('has an ok, a problem and an unreachable case', () => {
    expect(cases.some(({ status }) => status === 'ok')).toBe(true)
    expect(cases.some(({ status }) => status === 'problem')).toBe(true)
    const isMissing = (part: unknown): boolean => part instanceof AdminError && part.code !== 'NOT_CONFIGURED'
    expect(cases.some(({ sources }) => Object.values(sources ?? {}).some(isMissing))).toBe(true)
    expect(new Set(cases.map(({ situation }) => situation)).size).toBe(cases.length)
  })

  it('states the healthy condition in its title', () => {
    expect(check.title).toMatch(/^[a-zA-Z'][\w' -]+$/)
    expect(check.title).not.toMatch(/\b(check|problem|error|fail|stuck|wrong|bad)/i)
  })

  it('is explained under its own title', () => {
    const entry = explainEntries.find(({ id }) => id === check.id)
    expect(entry?.kind).toBe('check')
    expect(entry?.title).toBe(check.title)
  })

  it('says in `explain` how grave its problems can be', () => {
    const seen = new Set(cases.flatMap(({ severity }) => severity ?? []))
    const entry = explainEntries.find(({ id }) => id === check.id)
    expect(entry?.severities ?? []).toEqual(expect.arrayContaining([...seen]))
  })
})
