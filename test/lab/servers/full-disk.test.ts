import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillDisk, freeDisk, serverRunning } from '../../../src/lab/servers/index.ts'
import { makeFullDiskLibrary } from '../../../src/lab/servers/local/disk.ts'
import { tryProgram } from '../../../src/lab/servers/try-program.ts'
import { freshDatabase } from '../../servers/index.ts'
import { ownServer, silent, temporaryFolder } from './own-servers.ts'

test('the disk of PostgreSQL is filled for real, and freed', async () => {
  const record = await ownServer({ kind: 'postgres', postgres: { diskBytes: 128 * 1024 * 1024 } })
  const database = await freshDatabase(record)
  const sort = async () =>
    database.query('SELECT count(*) FROM (SELECT g FROM generate_series(1, 1000000) g ORDER BY g DESC) s')
  await database.query('CREATE TABLE t (v text)')
  const grow = () => database.query("INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 1000)")
  await grow()

  await fillDisk(record)
  await fillDisk(record)
  await expect(sort()).rejects.toMatchObject({
    code: '53100',
    message: expect.stringContaining('No space left on device') as string,
  })
  await expect(grow()).rejects.toMatchObject({ code: '53100' })
  await database.query('CHECKPOINT')
  expect(await database.query('SELECT count(*)::int AS n FROM t')).toEqual([{ n: 1000 }])
  expect(await serverRunning(record)).toBe(true)

  await freeDisk(record)
  await freeDisk(record)
  await sort()
  await grow()
})

test('the library that stands in for a full disk refuses growth below its folder, and nothing else', async () => {
  const folder = await temporaryFolder()
  const [disk, elsewhere] = [join(folder, 'disk'), join(folder, 'elsewhere')]
  for (const path of [disk, elsewhere]) await mkdir(path)
  const made = { library: join(folder, 'full.so'), folder: disk, fullWhile: join(folder, 'full') }
  await makeFullDiskLibrary(made, silent)
  const append = (path: string, text: string) =>
    tryProgram('/bin/sh', ['-c', 'exec dd of="$0" oflag=append conv=notrunc status=none < "$1"', path, text], {
      environment: { PATH: '/usr/bin:/bin', LD_PRELOAD: './full.so', LC_ALL: 'C' },
      workingDirectory: folder,
    })
  const text = join(folder, 'text')
  await writeFile(text, 'words\n')

  expect(await append(join(disk, 'file'), text)).toMatchObject({ ok: true })
  await writeFile(made.fullWhile, '')
  const refused = await append(join(disk, 'file'), text)
  expect(refused).toMatchObject({ ok: false, message: expect.stringContaining('No space left on device') as string })
  expect(await append(join(elsewhere, 'file'), text)).toMatchObject({ ok: true })
  expect(await readFile(join(disk, 'file'), 'utf8')).toBe('words\n')
  await access(join(elsewhere, 'file'))
})
