import { describe, expect, test } from 'vitest'
import { instead, opened, reply } from './api-answers.ts'
import { failureOf } from './failure-of.ts'
import { service } from './service.ts'

interface Item {
  id: number
  name: string
}

const items = (ids: readonly number[]): Item[] => ids.map((id) => ({ id, name: `p${id}` }))
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

/** What is listed where a page is answered so; and which pages were asked for. */
async function listed(
  answer: (page: number, walk: number) => unknown,
): Promise<{ found: readonly Item[] | null; asked: string[] }> {
  const asked: string[] = []
  let walk = 0
  const { url } = await service({
    instead(request, response) {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
      if (pathname !== '/api/project') return false
      asked.push(request.url ?? '')
      const page = Number(searchParams.get('page'))
      if (page === 0) walk += 1
      reply(200, JSON.stringify(answer(page, walk)))(response)
      return true
    },
  })
  return { found: await (await opened(url)).projects(), asked }
}

const pageOf = (content: readonly Item[], of: Readonly<Record<string, unknown>>): unknown => ({ content, ...of })

describe('projects', () => {
  test('are asked for by id, page after page', async () => {
    const { found, asked } = await listed((page) =>
      pageOf(items([[1, 2], [3]][page] ?? []), { last: page === 1, totalElements: 3 }),
    )
    expect(found).toEqual(items([1, 2, 3]))
    expect(asked).toEqual(['/api/project?page=0&size=500&sort=id%2CASC', '/api/project?page=1&size=500&sort=id%2CASC'])
  })

  test.each([
    { what: 'a bare list', answer: (): unknown => items([3, 1, 2]), ids: [1, 2, 3], pages: 1 },
    { what: 'nothing', answer: (): unknown => pageOf([], { last: true, totalElements: 0 }), ids: [], pages: 1 },
    {
      what: 'pages of a size of its own',
      answer: (page: number): unknown =>
        pageOf(items(upTo(25).slice(page * 10, page * 10 + 10)), { size: 10, number: page, totalPages: 3 }),
      ids: upTo(25),
      pages: 3,
    },
    {
      what: 'pages without a word about the end',
      answer: (page: number): unknown => pageOf(items(upTo(5).slice(page * 2, page * 2 + 2)), {}),
      ids: upTo(5),
      pages: 4,
    },
    {
      what: 'the same page each time',
      answer: (): unknown => pageOf(items([1, 2]), { last: false }),
      ids: [1, 2],
      pages: 2,
    },
    {
      what: 'pages that overlap',
      answer: (page: number): unknown =>
        pageOf(
          items(
            [
              [1, 2, 3],
              [3, 4],
              [4, 5],
            ][page] ?? [],
          ),
          { last: page === 2, totalElements: 5 },
        ),
      ids: upTo(5),
      pages: 3,
    },
    { what: 'a name that is none', answer: (): unknown => [{ id: 1 }, { id: 2, name: null }], ids: null, pages: 1 },
  ])('are given as $what', async ({ answer, ids, pages }) => {
    const { found, asked } = await listed(answer)
    expect(found).toEqual(
      ids === null
        ? [
            { id: 1, name: '' },
            { id: 2, name: '' },
          ]
        : items(ids),
    )
    expect(asked.length).toBe(pages)
  })

  test('one is removed while they are read: what has moved to a page that was read is found, too', async () => {
    // 2 is gone after the first page: 3 moves there
    const { found, asked } = await listed((page, walk) =>
      walk === 1
        ? pageOf(items(page === 0 ? [1, 2] : [4, 5]), { last: page === 1, totalElements: page === 0 ? 5 : 5 })
        : pageOf(items(page === 0 ? [1, 3] : [4, 5]), { last: page === 1, totalElements: 4 }),
    )
    expect(found).toEqual(items([1, 2, 3, 4, 5]))
    expect(asked.length).toBe(4)
  })

  test('a count that never fits is no reason to go on for ever', async () => {
    const { found, asked } = await listed(() => pageOf(items([1]), { last: true, totalElements: 9 }))
    expect([found, asked.length]).toEqual([items([1]), 3])
  })

  test('a list without end is given up', async () => {
    const asked: number[] = []
    const endless = listed((page) => (asked.push(page), pageOf(items([page + 1]), { last: false })))
    expect(await failureOf(endless)).toMatch(
      /^UNEXPECTED_ANSWER GET \S+\/api\/project returns too many pages: more than 2000$/,
    )
    expect(asked.length).toBe(2000)
  })

  test.each([
    { what: 'without an id', answer: [{ name: 'a' }] },
    { what: 'with a word for an id', answer: [{ id: 'one' }] },
    { what: 'that is nothing', answer: [null] },
  ])('one $what is not passed over', async ({ answer }) => {
    expect(await failureOf(listed(() => answer))).toMatch(
      /^UNEXPECTED_ANSWER GET \S+\/api\/project returned an unexpected answer \(HTTP 200/,
    )
  })

  test.each([
    { status: 404, error: null },
    { status: 405, error: null },
    { status: 501, error: null },
    { status: 403, error: /^FORBIDDEN GET \S+\/api\/project is not allowed/ },
    { status: 500, error: /^UNEXPECTED_ANSWER GET \S+\/api\/project returned an unexpected answer \(HTTP 500\)$/ },
  ])('are answered with $status', async ({ status, error }) => {
    const { url } = await service({ instead: instead('/api/project', reply(status, '{}')) })
    const projects = (await opened(url)).projects()
    if (error === null) expect(await projects).toBe(null)
    else expect(await failureOf(projects)).toMatch(error)
  })
})

describe('trees', () => {
  test('of a project without trees, of one that is not there, and again', async () => {
    const { url, received } = await service({ projects: [{ id: 4, name: 'Empty', trees: [] }] })
    const source = await opened(url)
    const missing = /^USAGE project 9 does not exist at \S+, or this API token's user cannot see it$/
    expect(await failureOf(source.trees(9))).toMatch(missing)
    const before = received.length
    expect(await failureOf(source.trees(9))).toMatch(missing)
    // what has been found out once is not asked again
    expect(received.length).toBe(before + 1)
    expect(await source.trees(4)).toEqual([])
  })

  test('are not offered for a project that is there', async () => {
    const { url } = await service({ instead: instead('/api/tree', reply(404, '{"status":404}')) })
    expect(await (await opened(url)).trees(1)).toBe(null)
    expect(await (await opened(url)).trees(9)).toBe(null)
  })

  test('are not offered where it cannot be told what is missing', async () => {
    expect(await (await opened((await service({ projects: [] })).url)).trees(1)).toBe(null)
  })
})
