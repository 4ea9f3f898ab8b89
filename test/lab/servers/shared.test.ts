import { expect, test } from 'vitest'
import { freshDatabase, freshRedisDatabase, freshVhost, servers } from '../../servers/index.ts'

test('the shared servers have the versions that the tests are about', () => {
  const { postgres, redis, rabbitmq3, rabbitmq43 } = servers()
  expect(Number.parseInt(postgres.version, 10)).toBeGreaterThanOrEqual(15)
  expect(redis.version).toMatch(/^[67]\./)
  expect(rabbitmq3.version).toMatch(/^3\./)
  expect(rabbitmq43.version).toMatch(/^4\./)
})

test('two databases are private to their callers, and gone after the cleanup', async () => {
  const [one, other] = [await freshDatabase(), await freshDatabase()]
  await one.query('CREATE TABLE t (id int)')
  expect(await other.query("SELECT to_regclass('t') AS found")).toEqual([{ found: null }])
  await Promise.all([one.cleanup(), other.cleanup()])
  await expect(one.query('SELECT 1')).rejects.toThrow('does not exist')
})

test.each(['3', '4.3'] as const)('a virtual host of RabbitMQ %s is private to its caller', async (line) => {
  const place = await freshVhost(line)
  await place.manage('PUT', `/api/queues/${place.vhost}/q`, { durable: true })
  expect(await place.manage('GET', `/api/queues/${place.vhost}?columns=name`)).toEqual([{ name: 'q' }])
  await place.cleanup()
  await expect(place.manage('GET', `/api/vhosts/${place.vhost}`)).rejects.toThrow('404')
})

test('only the 4.3 line refuses transient queues', async () => {
  const [three, four] = [await freshVhost('3'), await freshVhost('4.3')]
  await three.manage('PUT', `/api/queues/${three.vhost}/q`, { durable: false })
  await expect(four.manage('PUT', `/api/queues/${four.vhost}/q`, { durable: false })).rejects.toThrow(
    'transient_nonexcl_queues',
  )
  await Promise.all([three.cleanup(), four.cleanup()])
})

test('two Redis databases are private to their callers', async () => {
  const [one, other] = [await freshRedisDatabase(), await freshRedisDatabase()]
  expect(one.database).not.toBe(other.database)
  await one.client.set('key', 'value')
  expect(await other.client.get('key')).toBeNull()
  await Promise.all([one.cleanup(), other.cleanup()])
})
