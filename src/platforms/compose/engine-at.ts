import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { redactUrl } from '../../core/secret.ts'
import type { PlatformOptions } from '../platform.ts'
import { jsonIn } from './engine.ts'

/** where an engine of this machine listens unless told otherwise */
const usual = ['unix:///var/run/docker.sock', 'unix:///run/docker.sock']

/**
 * Which engine is asked from here, for people, since projects of several have the same name; null: the usual one of
 * this machine. Asks it nothing (docs.docker.com, "Docker contexts": DOCKER_HOST stands above DOCKER_CONTEXT, and that
 * above the configuration; podman(1): CONTAINER_HOST).
 */
export async function engineAt({ environment = env }: Pick<PlatformOptions, 'environment'>): Promise<string | null> {
  const address = environment['DOCKER_HOST'] || environment['CONTAINER_HOST']
  if (address) return usual.includes(address) ? null : `engine ${redactUrl(address)}`
  const context = environment['DOCKER_CONTEXT'] || (await currentContext(environment))
  return context === '' || context === 'default' ? null : `engine of the context ${context}`
}

async function currentContext(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const folder = environment['DOCKER_CONFIG'] || join(environment['HOME'] || homedir(), '.docker')
  const written = jsonIn(await readFile(join(folder, 'config.json'), 'utf8').catch(() => '')) as {
    currentContext?: unknown
  } | null
  return typeof written?.currentContext === 'string' ? written.currentContext : ''
}
