import type { ExplainText } from '../entry.ts'
import type { Pasted } from './pasted.ts'
import { isNoise, joinedUp, meaningOf, meaningsOf, synonyms } from './stem.ts'
import { editDistance } from '../../../core/nearest.ts'
import { frame } from './pasted.ts'

/** Returns what is related to the words, best first. */
export type WordSearch = (query: Pasted) => readonly Guess[]

interface Guess {
  text: ExplainText
  /** How good it is, 0 to 1 */
  score: number
  /** How much of the question it covers, 0 to 1 */
  coverage: number
  /** True if the entry says what is asked, and does not only have the same words */
  isApt: boolean
  /** True if the question contains one of its phrases as a whole */
  isSaid: boolean
}

/** Weight of a word that no entry knows */
const unknownWeight = 3
/** Weights of a word in an entry's text, relative to one in its title: in a short question, in a longer one */
const [inShort, inLong] = [0.6, 0.4] as const
/** Maximum words of a short question; maximum entries with a word that says enough by itself */
const [fewWords, fewEntries] = [2, 3] as const
/** Minimum parts of a phrase in the question, in a short one and in a longer one; minimum words of it */
const [mostInShort, mostInLong, wordsOfPhrase] = [0.65, 0.55, 2] as const
/** Minimum weight in a longer question; words that weigh less are those of every launch and test */
const leastInLong = 3.5
/** Minimum weight of a phrase that points to only one thing */
const telling = 5
/** Shares of a guess's score: for having the words, and for a phrase that is about the question */
const [ofCoverage, ofPhrase] = [0.7, 0.3] as const
/** Order of entries that fit equally well */
const rank: readonly ExplainText['kind'][] = ['fault', 'term', 'check']

/** Builds a search in which a word counts the more, the fewer entries contain it. Reads all entries once. */
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
        // a lone word is a topic if nothing else was said
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

/** Returns the words of each phrase that heads an entry, or that people say who meet it. */
function phrasesOf({ id, title, words = [] }: ExplainText): string[][] {
  const phrases = [id, title, ...words.flatMap((some) => [some, ...some.split(',')])]
  return phrases.map((phrase) => [...new Set(meaningsOf(phrase.replaceAll('ё', 'е')))])
}

function bodyOf({ meaning, causes = [], remedies = [] }: ExplainText): string[] {
  return meaningsOf([meaning, ...causes, ...remedies.map((remedy) => remedy.text)].join(' '))
}

/** Minimum letters of a word to correct; a shorter word turns into too many others */
const shortest = 5

/**
 * Returns a function that corrects an unknown word: it returns what the known words one letter away mean. It returns
 * the word itself if there are none, or if they differ in meaning.
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

/** Maximum words of a long text, and characters of each line, that are read: more says no more */
const [mostWords, mostOfLine] = [200, 4000] as const

/** Returns the words that count. Of names, addresses, numbers and quotations, only words that entries know count. */
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

/** Maximum words of a question that is no sentence: `no screenshots` */
const fewChunks = 2

/** True if a question says more than the word that it asks for: `tests failed`. */
function saysMore({ flat }: Pasted): boolean {
  const chunks = flat
    .slice(0, mostOfLine)
    .split(/[^\p{L}\p{N}_/-]+/u)
    .filter(Boolean)
  return chunks.length > fewChunks || chunks.some(isNoise)
}

function partsOf(line: string): { part: string; isName: boolean }[] {
  const whole = line.trim()
  // a line that is quoted as a whole is the question itself
  const parts = /^(["'`]).*\1$/.test(whole) ? [whole.slice(1, -1)] : whole.split(/("[^"]{1,200}"|'[^']{1,200}')/)
  return parts.flatMap((part, index) =>
    part.split(/\s+/).map((chunk) => ({ part: chunk, isName: index % 2 === 1 || isName(chunk) })),
  )
}

/** True for a class, a host, an address, a path, a setting. */
function isName(chunk: string): boolean {
  return /[\p{L}\p{N}][.:@/=_][\p{L}\p{N}]|\/\/|^[/@$]/u.test(chunk)
}
