import { readFileSync, readdirSync } from 'node:fs'
import ts from 'typescript'

/** A regular expression of src/, or the place where one is built of texts. */
export interface Site {
  /** `src/…ts` */
  file: string
  line: number
  /** as it stands there */
  /** on one line, however it is formatted */
  text: string
  /** null: it is built of texts when the program runs */
  pattern: RegExp | null
  /** whether a text is split at it, so that every place is looked at */
  isSplit: boolean
}

/** Every regular expression of src/, by its syntax tree, so that a new one is found by itself. */
export function sitesIn(root: string): Site[] {
  return readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .sort()
    .flatMap((file) => sitesOf(file, readFileSync(`${root}/${file}`, 'utf8')))
}

export function sitesOf(file: string, text: string): Site[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: Site[] = []
  const visit = (node: ts.Node): void => {
    const site = (pattern: RegExp | null): Site => ({
      file,
      line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
      text: node.getText().replace(/\n\s*/g, ''),
      pattern,
      isSplit:
        ts.isCallExpression(node.parent) &&
        ts.isPropertyAccessExpression(node.parent.expression) &&
        node.parent.expression.name.text === 'split',
    })
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push(site(new RegExp(node.text.slice(1, end), node.text.slice(end + 1))))
    } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp') {
      const [pattern, flags] = (node.arguments ?? []).map((it) => (ts.isStringLiteralLike(it) ? it.text : undefined))
      const isPlain = pattern !== undefined && (node.arguments?.length === 1 || flags !== undefined)
      found.push(site(isPlain ? new RegExp(pattern, flags ?? '') : null))
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}
