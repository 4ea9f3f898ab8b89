import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accessLogSource } from '../../src/runtime/parts/service.ts'
import { accessLogContract } from './access-log.ts'

accessLogContract(async ({ requests, nonsense = 0 }) => {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-access-log-'))
  const file = join(folder, 'access.log')
  const lines = (requests ?? []).map((request) => {
    const [method, path, status] = request.split(' ')
    return `10.0.0.5 - - [21/Nov/2026:03:04:05 +0100] "${method} ${path} HTTP/1.1" ${status} 512 "-" "curl/8.5.0"`
  })
  const others = Array.from({ length: nonsense }, (_, index) => `nonsense ${index}`)
  if (requests) await writeFile(file, [...lines, ...others].map((line) => `${line}\n`).join(''))
  return { source: accessLogSource(file, { timeoutMs: 5000 }), close: () => rm(folder, { recursive: true }) }
})
