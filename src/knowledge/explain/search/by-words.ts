import type { ExplainText } from '../entry.ts'
import type { Pasted } from './pasted.ts'
import { stemsOf } from './stem.ts'
import { wordsOf } from './words.ts'

/** What has to do with the words, best first. */
export type WordSearch = (query: Pasted) => readonly Guess[]

interface Guess {
  text: ExplainText
  /** how good it is, 0 to 1 */
  score: number
  /** how much of the question it has, 0 to 1 */
  coverage: number
  /** what is asked is what the entry says, not only made of the same words */
  isApt: boolean
}

/** what a word weighs of which no entry knows */
const unknownWeight = 3
/** a word in the text of an entry, beside one in its title: in a short question, in a longer one */
const [inShort, inLong] = [0.6, 0.4] as const
/** in a question of so many words at most, a word that so many entries use at most tells enough by itself */
const [fewWords, fewEntries] = [2, 3] as const
/** of a phrase, so much has to be in a longer question, and so many words */
const [mostOfPhrase, wordsOfPhrase] = [0.5, 2] as const
/** what counts of a guess: that it has the words, and that one of its phrases is about the question */
const [ofCoverage, ofPhrase] = [0.8, 0.2] as const
/** of those that fit alike */
const rank: readonly ExplainText['kind'][] = ['fault', 'term', 'check']

/** Each word counts the more, the fewer entries it stands in. Reads all entries once. */
export function wordSearch(texts: readonly ExplainText[]): WordSearch {
  // a line of a log is known or not: what is behind it is guessed
  const guessed = texts.filter(({ kind }) => kind !== 'signature')
  const indexed = guessed.map((text) => {
    const phrases = phrasesOf(text)
    return { text, phrases, heading: new Set(phrases.flat()), body: new Set(bodyOf(text)) }
  })
  const counts = new Map<string, number>()
  for (const { heading, body } of indexed) for (const word of new Set([...heading, ...body])) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weightOf = (word: string): number => (counts.has(word) ? Math.log(1 + texts.length / counts.get(word)!) : unknownWeight)
  const weigh = (words: readonly string[]): number => words.reduce((sum, word) => sum + weightOf(word), 0)

  return (query) => {
    const words = [...new Set(wordsOf(query, (word) => counts.has(word)))]
    if (words.length === 0) return []
    const asked = new Set(words)
    const isShort = words.length <= fewWords
    const said = (phrase: readonly string[]): string[] => phrase.filter((word) => asked.has(word))
    const says = (phrase: readonly string[]): boolean => said(phrase).length >= wordsOfPhrase && weigh(said(phrase)) >= mostOfPhrase * weigh(phrase)
    // 1: the phrase is the question
    const likeness = (phrase: readonly string[]): number => (weigh(said(phrase)) / (weigh(phrase) || 1)) * (weigh(said(phrase)) / weigh(words))
    const isRare = (word: string): boolean => counts.get(word)! <= fewEntries
    return indexed
      .map(({ text, phrases, heading, body }) => {
        const titled = words.filter((word) => heading.has(word))
        const told = words.filter((word) => !heading.has(word) && body.has(word))
        const coverage = (weigh(titled) + (isShort ? inShort : inLong) * weigh(told)) / weigh(words)
        const score = ofCoverage * coverage + ofPhrase * Math.max(...phrases.map(likeness))
        return { text, score, coverage, isApt: isShort ? titled.length > 0 || told.some(isRare) : phrases.some(says) }
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || rank.indexOf(a.text.kind) - rank.indexOf(b.text.kind))
  }
}

/** The words of what heads an entry, and of all that people say who meet it. */
function phrasesOf({ id, title, words = [] }: ExplainText): string[][] {
  const phrases = [id, title, ...words.flatMap((some) => [some, ...some.split(',')])]
  return phrases.map((phrase) => [...new Set(stemsOf(phrase.replaceAll('ё', 'е')))])
}

function bodyOf({ meaning, causes = [], remedies = [] }: ExplainText): string[] {
  return stemsOf([meaning, ...causes, ...remedies.map((remedy) => remedy.text)].join(' '))
}
