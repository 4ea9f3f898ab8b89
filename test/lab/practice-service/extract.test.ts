import { readFile } from 'node:fs/promises'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { admin, caller, guest, owner } from './support/client.ts'
import { deployment, sql, startService, until } from './support/deployment.ts'

interface Page {
  content: Record<string, unknown>[]
  totalElements: number
}

interface Schema {
  properties?: Record<string, Schema>
  additionalProperties?: unknown
  required?: string[]
}

/** What may be null in the service is left out of its answers. */
const absent = ['defaultCustomFieldValueId']

/** The public description, by which every field has to be there, and no other. */
async function description(): Promise<Ajv> {
  const extract = JSON.parse(
    await readFile(new URL('../../fixtures/report-service-extract.json', import.meta.url), 'utf8'),
  ) as {
    components: { schemas: Record<string, Schema> }
  }
  const close = (schema: Schema): void => {
    if (!schema.properties) return
    schema.required = Object.keys(schema.properties).filter((name) => !absent.includes(name))
    schema.additionalProperties = false
    Object.values(schema.properties).forEach(close)
  }
  Object.values(extract.components.schemas).forEach(close)
  return new Ajv({ strict: false, formats: { int32: true, int64: true } }).addSchema(extract, 'extract')
}

test('lists and their items are those of the public description, field by field, under both prefixes', async () => {
  const on = await deployment()
  const { url } = await startService(on.settings)
  await until(
    'the first migration',
    async () => (await sql(on, "SELECT 1 FROM async_job WHERE status = 'COMPLETED'")).length === 4,
  )
  const call = await caller(url, admin)
  const ajv = await description()
  const shaped = async (path: string, schema: string): Promise<Page> => {
    const answer = await call(path)
    const body = (await answer.json()) as Page
    const valid = ajv.validate(`extract#/components/schemas/${schema}`, body)
    expect([path, answer.status, valid, ajv.errors]).toEqual([path, 200, true, null])
    return body
  }
  for (const prefix of ['/api', '/api/rs']) {
    expect((await shaped(`${prefix}/project`, 'PageProjectDto')).content).toHaveLength(3)
    expect((await shaped(`${prefix}/tree?projectId=1`, 'PageTreeDto')).content).toMatchObject([
      { id: 1, projectId: 1 },
      { id: 2 },
    ])
    expect((await shaped(`${prefix}/v2/tree?projectId=1`, 'PageTreeDtoV2')).content).toMatchObject([
      { id: 1, projectId: 1 },
      { id: 2 },
    ])
    const { content } = await shaped(`${prefix}/migration/job?status=COMPLETED`, 'PageAsyncJobDto')
    await shaped(`${prefix}/migration/job/${String(content[0]!['id'])}`, 'AsyncJobWithStepsDto')
  }
})

test('pages are cut, sorted and filtered as they are asked for', async () => {
  const { url } = await startService((await deployment()).settings)
  const call = await caller(url, admin)
  const page = async (path: string, by = call): Promise<Record<string, unknown>> => {
    const { content, pageable, sort, ...rest } = (await (await by(path)).json()) as Page & Record<string, unknown>
    return { ...rest, pageable, sort, ids: content.map(({ id }) => id) }
  }
  const ids = async (path: string, by = call): Promise<unknown> => (await page(path, by))['ids']
  const sorted = { sorted: true, unsorted: false, empty: false }
  expect(await page('/api/project?page=1&size=2')).toEqual({
    ids: [1],
    number: 1,
    size: 2,
    numberOfElements: 1,
    totalElements: 3,
    totalPages: 2,
    first: false,
    last: true,
    empty: false,
    sort: sorted,
    pageable: { pageNumber: 1, pageSize: 2, offset: 2, paged: true, unpaged: false, sort: sorted },
  })
  expect(await page('/api/project?page=9')).toMatchObject({ ids: [], empty: true, last: true, totalElements: 3 })
  expect(await ids('/api/project?sort=id,DESC&size=2')).toEqual([3, 2])
  expect(await ids('/api/project?sort=isPublic,ASC&sort=createdDate,ASC&sort=id,DESC')).toEqual([3, 2, 1])
  expect(await ids('/api/project?sort=nothing;DROP,DESC')).toEqual([1, 2, 3])
  expect(await ids('/api/project?query=BILLI')).toEqual([2])
  expect(await ids('/api/project?favorite=true')).toEqual([])
  expect(await ids('/api/project?my=true', await caller(url, owner))).toEqual([1])
  expect(await ids('/api/project?my=true', await caller(url, guest))).toEqual([])
  expect(await ids('/api/tree?projectId=1&sort=name,DESC')).toEqual([2, 1])
  const status = async (path: string): Promise<number> => (await call(path)).status
  expect(await status('/api/tree?projectId=99')).toBe(404)
  expect(await status('/api/tree')).toBe(400)
  expect(await status('/api/v2/tree?projectId=one')).toBe(400)
  expect(await status('/api/migration/job/999')).toBe(404)
  expect((await fetch(`${url}/api/rs/project`)).status).toBe(401)
})
