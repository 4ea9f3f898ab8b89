import { describe } from 'vitest'
import { openApi } from '../../src/adapters/api/index.ts'
import { Secret } from '../../src/core/secret.ts'
import { apiToken as rightToken, service } from '../adapters/service.ts'
import { apiContract } from './api.ts'

describe('api', () => {
  apiContract(async ({ apiToken = 'right', tokenLifeSeconds, health, migrationJobs }) => {
    const { url } = await service({
      ...(tokenLifeSeconds === undefined ? {} : { tokenLifeSeconds }),
      ...(health === undefined ? {} : { health }),
      ...(migrationJobs === undefined ? {} : { migrationJobs }),
    })
    const token = { right: new Secret(rightToken), wrong: new Secret('another'), none: null }[apiToken]
    return openApi({ baseUrl: url, apiToken: token, ca: null }, { timeoutMs: 5000 })
  })
})
