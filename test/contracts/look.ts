import type { Opened } from '../../src/core/endpoint.ts'
import { expectPlain } from './plain.ts'

/**
 * Asks a source of a situation one question, holds the answer to be plain data, and closes the source whatever happens.
 */
export function lookThrough<Situation, Source>(open: (situation: Situation) => Promise<Opened<Source>>) {
  return async <T>(situation: Situation, question: (source: Source) => Promise<T>): Promise<T> => {
    const { source, close } = await open(situation)
    try {
      const answer = await question(source)
      expectPlain(answer)
      return answer
    } finally {
      await close()
    }
  }
}
