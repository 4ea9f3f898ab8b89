import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { redactUrl } from '../../core/secret.ts'
import type { PlatformOptions } from '../platform.ts'
import { jsonIn } from './engine.ts'

/** Default addresses of an engine on this machine */
const usual = ['unix:///var/run/docker.sock', 'unix:///run/docker.sock']

/**
 * Names the engine that this machine uses, for people: projects of several engines may have the same name. Null for
 * this machine's default engine. Does not contact it (docs.docker.com, "Docker contexts": DOCKER_HOST overrides
 * DOCKER_CONTEXT, which overrides the configuration; podman(1): CONTAINER_HOST).
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
