import type { ExplainText } from '../entry.ts'
import type { Pasted } from './pasted.ts'
import { isNoise, joinedUp, meaningOf, meaningsOf, synonyms } from './stem.ts'
import { editDistance } from '../../../core/nearest.ts'
import { frame } from './pasted.ts'

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
  /** the question holds one of its phrases as a whole */
  isSaid: boolean
}

/** what a word weighs of which no entry knows */
const unknownWeight = 3
/** a word in the text of an entry, beside one in its title: in a short question, in a longer one */
const [inShort, inLong] = [0.6, 0.4] as const
/** in a question of so many words at most, a word that so many entries use at most tells enough by itself */
const [fewWords, fewEntries] = [2, 3] as const
/** of a phrase, so much has to be in the question, in a short one and in a longer one, and so many words */
const [mostInShort, mostInLong, wordsOfPhrase] = [0.65, 0.55, 2] as const
/** words that weigh less in a longer question are those of every launch and test */
const leastInLong = 3.5
/** what a phrase weighs that tells of one thing alone */
const telling = 5
/** what counts of a guess: that it has the words, and that one of its phrases is about the question */
const [ofCoverage, ofPhrase] = [0.7, 0.3] as const
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
  for (const { heading, body } of indexed)
    for (const word of new Set([...heading, ...body])) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weightOf = (word: string): number =>
    counts.has(word) ? Math.log(1 + texts.length / counts.get(word)!) : unknownWeight
  const weigh = (words: readonly string[]): number => words.reduce((sum, word) => sum + weightOf(word), 0)
  const spelling = spellingOf([...indexed.flatMap(({ heading }) => [...heading]), ...synonyms.keys()])

  return (query) => {
    const written = wordsOf(query, (word) => counts.has(word))
    const words = [
      ...new Set(query.isLog ? written : written.map((word) => (counts.has(word) ? word : spelling(word)))),
    ]
    if (words.length === 0) return []
    const asked = new Set(words)
    const isShort = words.length <= fewWords
    const isLone = words.length === 1
    const isTopic = !saysMore(query)
    const said = (phrase: readonly string[]): string[] => phrase.filter((word) => asked.has(word))
    const partOf = (phrase: readonly string[]): number => weigh(said(phrase)) / (weigh(phrase) || 1)
    const says = (phrase: readonly string[]): boolean =>
      said(phrase).length >= wordsOfPhrase &&
      (isShort ? partOf(phrase) >= mostInShort : partOf(phrase) >= mostInLong && weigh(said(phrase)) >= leastInLong)
    // 1: the phrase is the question
    const likeness = (phrase: readonly string[]): number => partOf(phrase) * (weigh(said(phrase)) / weigh(words))
    const isWhole = (phrase: readonly string[]): boolean =>
      phrase.length >= wordsOfPhrase && weigh(phrase) >= telling && phrase.every((word) => asked.has(word))
    const isRare = (word: string): boolean => counts.has(word) && counts.get(word)! <= fewEntries
    return indexed
      .map(({ text, phrases, heading, body }) => {
        const titled = words.filter((word) => heading.has(word))
        const told = words.filter((word) => !heading.has(word) && body.has(word))
        const coverage = (weigh(titled) + (isShort ? inShort : inLong) * weigh(told)) / weigh(words)
        const score = ofCoverage * coverage + ofPhrase * Math.max(...phrases.map(likeness))
        // a word that stands alone is a topic where nothing else was said
        const isApt = isLone
          ? isTopic
            ? titled.length > 0 || told.some(isRare)
            : titled.some(isRare)
          : phrases.some(says)
        return { text, score, coverage, isApt, isSaid: phrases.some(isWhole) }
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || rank.indexOf(a.text.kind) - rank.indexOf(b.text.kind))
  }
}

/** The words of what heads an entry, and of all that people say who meet it. */
function phrasesOf({ id, title, words = [] }: ExplainText): string[][] {
  const phrases = [id, title, ...words.flatMap((some) => [some, ...some.split(',')])]
  return phrases.map((phrase) => [...new Set(meaningsOf(phrase.replaceAll('ё', 'е')))])
}

function bodyOf({ meaning, causes = [], remedies = [] }: ExplainText): string[] {
  return meaningsOf([meaning, ...causes, ...remedies.map((remedy) => remedy.text)].join(' '))
}

/** a shorter word turns into too many others */
const shortest = 5

/**
 * Of a word that is not known: what the one means that it is but for a single letter; itself where there is none, or
 * more than one.
 */
function spellingOf(known: Iterable<string>): (word: string) => string {
  const words = [...new Set(known)].filter((word) => word.length >= shortest && !/\d/.test(word))
  return (word) => {
    if (word.length < shortest) return word
    const near = words.filter((it) => Math.abs(it.length - word.length) <= 1 && editDistance(word, it) === 1)
    const meanings = new Set(near.map(meaningOf))
    return meanings.size === 1 ? [...meanings][0]! : word
  }
}

/** of a long text, so many words, and so much of each line, is looked at: more says no more */
const [mostWords, mostOfLine] = [200, 4000] as const

/**
 * The words that count. Names, addresses, numbers and what is quoted are another's: of these only words that entries
 * know.
 */
function wordsOf({ lines }: Pasted, isKnown: (word: string) => boolean): string[] {
  const words: string[] = []
  for (const line of lines) {
    if (words.length >= mostWords) break
    if (frame.test(line)) continue
    for (const { part, isName } of partsOf(joinedUp(line.slice(0, mostOfLine)))) {
      words.push(...meaningsOf(part).filter((word) => isKnown(word) || (!isName && !/[\d_]/.test(word))))
    }
  }
  return words.slice(0, mostWords)
}

/** so many words beside the one that is asked for make no sentence: `no screenshots` */
const fewChunks = 2

/** Whether there is more than a word that is asked for, of which nothing is known: `tests failed`. */
function saysMore({ flat }: Pasted): boolean {
  const chunks = flat
    .slice(0, mostOfLine)
    .split(/[^\p{L}\p{N}_/-]+/u)
    .filter(Boolean)
  return chunks.length > fewChunks || chunks.some(isNoise)
}

function partsOf(line: string): { part: string; isName: boolean }[] {
  const whole = line.trim()
  // what is quoted as a whole is the question itself
  const parts = /^(["'`]).*\1$/.test(whole) ? [whole.slice(1, -1)] : whole.split(/("[^"]{1,200}"|'[^']{1,200}')/)
  return parts.flatMap((part, index) =>
    part.split(/\s+/).map((chunk) => ({ part: chunk, isName: index % 2 === 1 || isName(chunk) })),
  )
}

/** A class, a host, an address, a path, a setting. */
function isName(chunk: string): boolean {
  return /[\p{L}\p{N}][.:@/=_][\p{L}\p{N}]|\/\/|^[/@$]/u.test(chunk)
}
