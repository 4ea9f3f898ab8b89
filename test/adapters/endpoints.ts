import type { ApiEndpoint, BrokerEndpoint, DatabaseEndpoint, SessionsEndpoint, Tls } from '../../src/core/endpoint.ts'
import { Secret } from '../../src/core/secret.ts'

const plain: Tls = { mode: 'disable', ca: null }

export function databaseAt(port: number, of: Partial<DatabaseEndpoint> = {}): DatabaseEndpoint {
  return {
    hosts: [{ host: '127.0.0.1', port }],
    database: 'testops',
    user: 'testops',
    password: new Secret('secret'),
    tls: { mode: 'prefer', ca: null },
    schema: null,
    ...of,
  }
}

export function brokerAt(port: number, of: Partial<BrokerEndpoint> = {}): BrokerEndpoint {
  return {
    host: '127.0.0.1',
    port,
    vhost: '/',
    user: 'testops',
    password: new Secret('secret'),
    tls: plain,
    managementUrl: null,
    ...of,
  }
}

export function sessionsAt(port: number, of: Partial<SessionsEndpoint> = {}): SessionsEndpoint {
  return {
    host: '127.0.0.1',
    port,
    database: 0,
    user: null,
    password: null,
    tls: plain,
    namespace: null,
    sentinel: null,
    cluster: null,
    ...of,
  }
}

export function apiAt(baseUrl: string, of: Partial<ApiEndpoint> = {}): ApiEndpoint {
  return { baseUrl, apiToken: new Secret('the-api-token'), ca: null, ...of }
}
