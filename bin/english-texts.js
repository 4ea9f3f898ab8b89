// Collects from src/ the English texts that explain/program.LANGUAGE.yaml translates: what is passed to `say`, each
// sentence of a remedy or of its risk, and the page of help. Values become {1}, {2}; where a text depends on a
// condition, all its forms count.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** A value within a text, which only a run of the program knows. */
const value = '\u0000'
/** Forms of one text */
const mostForms = 200
/** Steps from a name to what it stands for, and on */
const mostSteps = 12

/** Headings of oclif's pages that list commands */
const headings = ['VERSION', 'USAGE', 'TOPICS', 'COMMANDS']

/** Returns all texts: of the page of `help`, `words` of output, `sentences` of remedies. */
export function englishTexts() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const program = ts.createProgram([join(root, 'src/main.ts')], { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  const read = reader(checker)
  const { description, oclif } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const help = new Set([...headings, description, ...Object.values(oclif.topics).map((topic) => topic.description)])
  const words = new Set()
  const sentences = new Set()
  const add = (to, forms) => {
    for (const it of forms) to.add(numbered(it))
  }
  const visit = (node) => {
    if (isSummary(node)) add(help, read(node.initializer))
    else if (ts.isCallExpression(node) && isSay(node.expression, checker)) add(words, read(node.arguments[0]))
    else if (isRemedyText(node, checker)) add(sentences, read(textOf(node, checker)).flatMap(sentencesOf))
    ts.forEachChild(node, visit)
  }
  for (const source of program.getSourceFiles()) if (source.fileName.startsWith(join(root, 'src/'))) visit(source)
  const own = (texts) => [...texts].filter((it) => /[A-Za-z]{2}/.test(it.replaceAll(/\{\d\}/g, ''))).sort()
  return { help: own(help), words: own(words), sentences: own(sentences) }
}

/** True for the summary of a command, not of a flag. */
const isSummary = (node) =>
  ts.isPropertyDeclaration(node) &&
  node.name.getText() === 'summary' &&
  node.getSourceFile().fileName.includes('/src/commands/')

/** True for what is called to translate: each is declared as `Say`, and named so. */
function isSay(called, checker) {
  if (called.getText() !== 'say' && called.getText() !== 'view.say') return false
  return checker.getTypeAtLocation(called).aliasSymbol?.name === 'Say'
}

/** Folders that hold remedies of checks; what only `preflight` says is not translated. */
const remedial = /\/src\/(?:checks|domain|knowledge)\/(?!support\/preflight\/)/

/** True for `text` and `risk` of a remedy, for a `remedy` that is a text, and for what `said` holds by error code. */
function isRemedyText(node, checker) {
  if (!ts.isPropertyAssignment(node) && !ts.isShorthandPropertyAssignment(node)) return false
  const file = node.getSourceFile().fileName
  if (!remedial.test(file)) return false
  const name = node.name.getText()
  const { parent } = node
  if (ts.isPropertyAssignment(parent.parent) && parent.parent.name.getText() === 'said')
    return file.includes('/checks/')
  if (name === 'remedy') return file.includes('/checks/') && node.initializer !== undefined && isText(node.initializer)
  if (name !== 'text' && name !== 'risk') return false
  const meant = checker.getContextualType(parent) ?? checker.getTypeAtLocation(parent)
  return ['commands', 'command'].some(
    (it) => meant.getProperty(it) ?? checker.getTypeAtLocation(parent).getProperty(it),
  )
}

function textOf(node, checker) {
  return node.initializer ?? checker.getShorthandAssignmentValueSymbol(node).valueDeclaration
}

const isText = (node) =>
  ts.isStringLiteralLike(node) ||
  ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)))

/** Returns what reads an expression: every text that it may be. */
function reader(checker) {
  const read = (node, steps = 0) => {
    if (steps > mostSteps) return [value]
    const next = (it) => read(it, steps + 1)
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node))
      return next(node.expression)
    if (ts.isStringLiteralLike(node)) return [node.text]
    if (ts.isTemplateExpression(node))
      return node.templateSpans.reduce(
        (forms, span) => joined(joined(forms, next(span.expression)), [span.literal.text]),
        [node.head.text],
      )
    if (ts.isBinaryExpression(node))
      return node.operatorToken.kind === ts.SyntaxKind.PlusToken
        ? joined(next(node.left), next(node.right))
        : node.operatorToken.kind === ts.SyntaxKind.BarBarToken
          ? [...next(node.left), ...next(node.right)]
          : [value]
    if (ts.isConditionalExpression(node)) return [...next(node.whenTrue), ...next(node.whenFalse)]
    if (ts.isTaggedTemplateExpression(node))
      return node.tag.getText() === 'sentence' ? next(node.template).map((it) => it.replaceAll(/\s+/g, ' ')) : [value]
    if (ts.isVariableDeclaration(node)) return node.initializer ? next(node.initializer) : [value]
    if (ts.isCallExpression(node)) return ofCall(node, next)
    if (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)) return ofName(node, next)
    return [value]
  }

  const ofCall = (node, next) => {
    const { expression, arguments: given } = node
    const name = expression.getText()
    if (name === 'countOf' || name === 'counted') {
      const [one] = next(given[1])
      const [many] = given[2] === undefined ? [`${one}s`] : next(given[2])
      return [`${value} ${one}`, `${value} ${many}`]
    }
    if (name === 'printable' || name === 'markdownText') return next(given[0])
    // what is joined is taken apart again: each sentence is translated for itself
    if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'join') {
      const items = itemsOf(expression.expression).flatMap(next)
      return items.length === 0 ? [value] : items
    }
    if (name === 'span' || name === 'moment' || name === 'clip') return [value]
    const declared = checker.getResolvedSignature(node)?.declaration
    if (!declared?.body || !declared.getSourceFile().fileName.startsWith(join(root, 'src/'))) return [value]
    const returned = []
    const visit = (it) => {
      if (ts.isReturnStatement(it) && it.expression) returned.push(it.expression)
      else if (!ts.isFunctionLike(it)) ts.forEachChild(it, visit)
    }
    if (ts.isBlock(declared.body)) visit(declared.body)
    else returned.push(declared.body)
    const forms = returned.flatMap(next)
    return forms.length === 0 ? [value] : forms
  }

  const itemsOf = (node) => {
    if (ts.isParenthesizedExpression(node) || ts.isSpreadElement(node)) return itemsOf(node.expression)
    if (ts.isConditionalExpression(node)) return [...itemsOf(node.whenTrue), ...itemsOf(node.whenFalse)]
    if (ts.isArrayLiteralExpression(node))
      return node.elements.flatMap((it) => (ts.isSpreadElement(it) ? itemsOf(it) : [it]))
    const declared = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node)?.valueDeclaration : undefined
    return declared && ts.isVariableDeclaration(declared) && declared.initializer ? itemsOf(declared.initializer) : []
  }

  const ofName = (node, next) => {
    const found = checker.getSymbolAtLocation(node)
    const symbol = found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found
    const declared = symbol?.valueDeclaration
    const isConst =
      declared &&
      ts.isVariableDeclaration(declared) &&
      ts.isIdentifier(declared.name) &&
      declared.initializer &&
      ts.getCombinedNodeFlags(declared) & ts.NodeFlags.Const
    if (isConst) return next(declared.initializer)
    if (declared && ts.isPropertyAssignment(declared)) return next(declared.initializer)
    return [value]
  }
  return (node) => [...new Set(read(node))]
}

function joined(some, more) {
  const forms = new Set(some.flatMap((one) => more.map((other) => one + other)))
  return [...forms].slice(0, mostForms)
}

/** What src/engine/remedy.ts fills in */
const filledIn = /(?:-d )?\{[a-z]+\}/g

/** Splits as src/core/translation.ts does. A value before a sentence stands for others. */
function sentencesOf(text) {
  return text
    .replaceAll(filledIn, value)
    .trim()
    .split(/(?<=[.!?]) /)
    .map((it) => it.replace(new RegExp(`^${value} (?=[A-Z])`), ''))
}

function numbered(text) {
  let count = 0
  // values beside each other are one
  return text.trim().replaceAll(new RegExp(`${value}+`, 'g'), () => `{${(count += 1)}}`)
}
