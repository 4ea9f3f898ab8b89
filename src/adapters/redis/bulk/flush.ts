import type { Node } from './node.ts'
import { command, errorIn } from './page.ts'

/** Both in one instant, so that nothing is lost that came after the count. */
const script = "if redis.call('DBSIZE') == tonumber(ARGV[1]) then redis.call('FLUSHDB', 'ASYNC') return 1 end return 0"

/** Empties the database where it holds exactly so many keys; else says why it was not. */
export async function flushIfOnly({ wire }: Node, keys: number): Promise<string | null> {
  let why: string | null = null
  await wire.send([command('EVAL', script, '0', String(keys))], 1, (reply) => {
    const said = errorIn(reply)
    if (said !== null) why = 'the store does not let this user empty it at once (FLUSHDB is disabled, renamed or forbidden)'
    else if (reply.toString('latin1') !== ':1\r\n') why = 'sessions have begun or ended since they were counted'
  })
  return why
}
