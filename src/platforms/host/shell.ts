/** Splits what systemd prints as a list of words, some of them quoted: `A=1 "B=two words"`. */
export function wordsOf(text: string): string[] {
  return [...text.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/gs)].map(([word]) =>
    word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs, (_, double?: string, single?: string, escaped?: string) =>
      double === undefined ? (single ?? escaped ?? '') : double.replace(/\\(.)/gs, '$1'),
    ),
  )
}
