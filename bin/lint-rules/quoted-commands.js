import ts from 'typescript'
import { isJoined } from './joined.js'

/**
 * Checks that text printed for copying into a shell has no unquoted value (`src/core/shell-command.ts`).
 *
 * A type that is `string & Record<never, never>` (`Suggestion`) takes only program text and what the tags of that file
 * make. Reports a plain string that flows there in any way. Also reports a template that looks like a command and has
 * no tag, a value within the quotes of a command, and a cast to the types of that file.
 */
export const quotedCommands = {
  meta: {
    type: 'problem',
    schema: [{ type: 'object', properties: { looks: { type: 'boolean' } }, additionalProperties: false }],
    messages: {
      unquoted:
        'This is printed to be copied: make it with `command`, `sentence` or `typed` of core/shell-command.ts, ' +
        'which quote its values.',
      looksLikeCommand:
        'This looks like a command with an unquoted value: tag it with `command` (a part of a sentence: insert ' +
        'a `command`).',
      withinQuotes:
        'A value within quotes is quoted twice, and so not at all: let the tag make the whole word, or a ' +
        'quoted one of its own.',
      cast: 'Only core/shell-command.ts says that a string can be pasted.',
    },
  },
  create(context) {
    const [options = {}] = context.options
    const home = /[\\/]core[\\/]shell-command\.ts$/.test(context.filename)
    const flow = home ? null : flowOf(context)
    return {
      ...flow?.listeners,
      TemplateLiteral(node) {
        if (node.parent.type === 'TaggedTemplateExpression' || options.looks === false) return
        if (flow?.beginsWithCommand(node)) context.report({ node, messageId: 'unquoted' })
        // a message may begin with the name of a program
        const text = isMessage(node) ? `.${textOf(node)}` : textOf(node)
        if (programs.test(text)) context.report({ node, messageId: 'looksLikeCommand' })
      },
      TaggedTemplateExpression({ tag, quasi }) {
        if (tag.type !== 'Identifier' || !['command', 'sentence', 'sql'].includes(tag.name)) return
        for (const at of valuesWithinQuotes(
          quasi.quasis.map(({ value }) => value.cooked),
          tag.name === 'sentence',
        )) {
          if (!flow?.isNumber(quasi.expressions[at]))
            context.report({ node: quasi.expressions[at], messageId: 'withinQuotes' })
        }
      },
      'TSAsExpression, TSTypeAssertion'(node) {
        const to = node.typeAnnotation
        const isBrand =
          to.type === 'TSTypeReference' &&
          to.typeName.type === 'Identifier' &&
          ['ShellCommand', 'Suggestion', 'SqlText'].includes(to.typeName.name)
        if (isBrand && !home) context.report({ node, messageId: 'cast' })
      },
    }
  },
}

const value = '\0'

function textOf({ quasis }) {
  return quasis.map(({ value: { cooked } }) => cooked).join(value)
}

/** Programs that an operator types; of English words among them, only those that begin no sentence of ours. */
const programNames = [
  'testops-admin|kubectl|oc|helm (?:get|history|list|repo|rollback|search|show|status|template|upgrade(?! s))',
  String.raw`docker|docker-compose|podman|podman-compose|psql|pg_\w+|rabbitmq[\w-]*|redis-cli|curl|openssl`,
  String.raw`grep|sed|tail|less|cat|ls|rm|mv|cp|ln|df|du|wc|ss|ps|systemctl|systemd-\w+|journalctl|timedatectl`,
  'getent|dig|nslookup|ping|git|chmod|chown|mkdir|printf|echo|tar|unzip|gunzip|zstd|xz|bunzip2|umask|ssh|scp|uname',
  'jcmd|jstack|mount|npm|kill|sleep|unset|export|command',
].join('|')
const toValue = '[^`]*\\0'
const programs = new RegExp(
  '(?:^\\s*|`|: (?=testops-admin ))(?:' +
    [
      String.raw`(?:sudo (?:-\w+ )*)?(?:${programNames})\s${toValue}`,
      `--?[a-z][a-z-]*[ ]${toValue}`,
      '(?<=`)--?[a-z][a-z-]*=' + toValue,
    ].join('|') +
    ')',
)

/** True for a message, and for what goes on with a text that begins before it. */
function isMessage(node) {
  const { parent } = node
  if (isJoined(parent)) return parent.right === node || isMessage(parent)
  const isOf = (name) => parent.callee?.type === 'Identifier' && parent.callee.name === name
  return parent.type === 'NewExpression' && isOf('AdminError')
}

/** True for a text of the program, even if a long line is broken into pieces. */
function isProgramText(node) {
  if (isJoined(node)) return isProgramText(node.left) && isProgramText(node.right)
  return node.type === 'Literal' && typeof node.value === 'string'
}

/**
 * Returns the indices of the values within quotes. In a sentence an apostrophe is no quote, but text in backquotes runs
 * where it is pasted.
 */
function valuesWithinQuotes(texts, isSentence) {
  const within = []
  const open = []
  texts.slice(0, -1).forEach((text, at) => {
    for (let i = 0; i < text.length; i++) {
      const last = open.at(-1)
      if (text[i] === '\\' && last !== "'") i++
      else if (last === "'") {
        if (text[i] === "'") open.pop()
      } else if (text.startsWith('$(', i)) {
        open.push('(')
        i++
      } else if (text[i] === '"') {
        if (last === '"') open.pop()
        else open.push('"')
      } else if (text[i] === '`' && isSentence) {
        if (last === '`') open.pop()
        else open.push('`')
      } else if (text[i] === "'" && last !== '"' && !isSentence) open.push("'")
      else if (text[i] === ')' && last === '(') open.pop()
    }
    if (open.some((it) => it !== '(') && open.at(-1) !== '(') within.push(at)
  })
  return within
}

/** Reports what flows into `Suggestion` and is neither program text nor made by the tags. */
function flowOf(context) {
  const services = context.sourceCode.parserServices
  const checker = services.program.getTypeChecker()
  const tsOf = (node) => services.esTreeNodeToTSNodeMap.get(node)
  const mentions = mentionsIn(checker)
  const flows = flowsIn(checker, mentions)

  const contextual = (node) => checker.getContextualType(tsOf(node))
  const report = (node) => context.report({ node, messageId: 'unquoted' })

  function inspect(node, target) {
    if (!target || !mentions(target) || (isJoined(node) && isProgramText(node))) return
    switch (node.type) {
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
        return inspect(node.expression, target)
      case 'ConditionalExpression':
        inspect(node.consequent, target)
        return inspect(node.alternate, target)
      case 'LogicalExpression':
        if (node.operator !== '&&') inspect(node.left, target)
        return inspect(node.right, target)
      case 'ArrayExpression': {
        const element = checker.getIndexTypeOfType(checker.getNonNullableType(target), ts.IndexKind.Number)
        for (const it of node.elements) {
          if (it?.type === 'SpreadElement') inspectSpread(it.argument, target, element)
          else if (it) inspect(it, element)
        }
        return
      }
      case 'ObjectExpression':
        for (const property of node.properties) {
          if (property.type === 'SpreadElement') check(property.argument, target)
          else if (property.type === 'Property' && !property.computed) {
            const name = property.key.type === 'Identifier' ? property.key.name : String(property.key.value)
            const type = propertyType(checker, target, name, tsOf(node))
            if (type) inspect(property.value, type)
          }
        }
        return
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
        // its return values are checked where it returns them
        return
      default:
        return check(node, target)
    }
  }

  function inspectSpread(node, target, element) {
    if (node.type === 'ConditionalExpression') {
      inspectSpread(node.consequent, target, element)
      return inspectSpread(node.alternate, target, element)
    }
    if (node.type === 'LogicalExpression') {
      if (node.operator !== '&&') inspectSpread(node.left, target, element)
      return inspectSpread(node.right, target, element)
    }
    if (node.type === 'ArrayExpression') return inspect(node, target)
    if (!element || !mentions(element)) return
    const type = checker.getNonNullableType(checker.getTypeAtLocation(tsOf(node)))
    for (const part of type.isUnion() ? type.types : [type]) {
      const own = checker.getIndexTypeOfType(part, ts.IndexKind.Number) ?? checker.getTypeArguments(part)[0]
      if (own && !flows(own, element)) return report(node)
    }
  }

  function check(node, target) {
    if (!flows(checker.getTypeAtLocation(tsOf(node)), target)) report(node)
  }

  const seen = new Set()
  /** Checks an expression where it is passed on; parts of a literal are checked with the literal. */
  function site(node, target = contextual(node)) {
    if (!node || seen.has(node)) return
    seen.add(node)
    inspect(node, target)
  }

  const typeOf = (node) => checker.getTypeAtLocation(tsOf(node))
  return {
    isNumber: (node) => (typeOf(node).flags & ts.TypeFlags.NumberLike) !== 0,
    /** True for a template like `${client} INFO`, which is a plain string again. */
    beginsWithCommand: ({ quasis, expressions }) =>
      quasis[0].value.cooked === '' &&
      quasis.length > 1 &&
      /^ \S/.test(quasis[1].value.cooked) &&
      isOfShell(typeOf(expressions[0])),
    listeners: {
      'CallExpression, NewExpression'({ arguments: given }) {
        for (const it of given) if (it.type !== 'SpreadElement') site(it)
      },
      'CallExpression > SpreadElement, NewExpression > SpreadElement'(node) {
        const signature = checker.getResolvedSignature(tsOf(node.parent))
        const last = signature?.parameters.at(-1)
        if (!last) return
        const target = checker.getTypeOfSymbolAtLocation(last, tsOf(node))
        inspectSpread(node.argument, target, checker.getIndexTypeOfType(target, ts.IndexKind.Number))
      },
      ReturnStatement({ argument }) {
        if (argument) site(argument)
      },
      YieldExpression({ argument }) {
        if (argument) site(argument)
      },
      ArrowFunctionExpression({ body }) {
        if (body.type !== 'BlockStatement') site(body)
      },
      VariableDeclarator({ id, init }) {
        if (init && id.typeAnnotation) site(init)
      },
      AssignmentExpression({ right }) {
        site(right, contextual(right))
      },
      AssignmentPattern({ left, right }) {
        site(
          right,
          left.typeAnnotation
            ? checker.getTypeFromTypeNode(tsOf(left.typeAnnotation.typeAnnotation))
            : contextual(right),
        )
      },
      PropertyDefinition({ value: given, typeAnnotation }) {
        if (given && typeAnnotation) site(given)
      },
      TSSatisfiesExpression({ expression }) {
        site(expression)
      },
    },
  }
}

function isOfShell(type) {
  return ['ShellCommand', 'Suggestion'].includes(type.aliasSymbol?.name)
}

/** True for `string & Record<never, never>`, which TypeScript keeps apart from `string` and fills with any string. */
function isSuggestion(type) {
  return (
    type.isIntersection() &&
    type.types.length === 2 &&
    type.types.some((it) => it.flags & ts.TypeFlags.String) &&
    type
      .getProperties()
      .every(({ name }) => name in String.prototype || name === '__@iterator' || name.startsWith('__@')) &&
    !isBranded(type)
  )
}

function isBranded(type) {
  return (
    type.isIntersection() && type.types.some((it) => it.flags & ts.TypeFlags.Object && it.getProperties().length > 0)
  )
}

/** Returns a function that is true if `Suggestion` is anywhere in a type: itself, in lists, in its parts. */
function mentionsIn(checker) {
  const known = new Map()
  return function mentions(type, depth = 0) {
    if (known.has(type)) return known.get(type)
    if (depth > 5) return false
    known.set(type, false)
    const found = look(type, depth)
    known.set(type, found)
    return found
  }
  function look(type, depth) {
    const mentions = (it) => !!it && (known.get(it) ?? (depth > 5 ? false : lookAndKeep(it, depth + 1)))
    if (isSuggestion(type)) return true
    if (type.isUnion()) return type.types.some(mentions)
    if (!(type.flags & ts.TypeFlags.Object) && !type.isIntersection()) return false
    if (type.isIntersection() && type.types.some((it) => it.flags & ts.TypeFlags.StringLike)) return false
    if (
      checker.getTypeArguments &&
      type.objectFlags & ts.ObjectFlags.Reference &&
      checker.getTypeArguments(type).some(mentions)
    )
      return true
    if (type.symbol && !isOurs(type.symbol)) return false
    if (type.getCallSignatures().some((it) => mentions(it.getReturnType()))) return true
    return type.getProperties().some((it) => isOurs(it) && mentions(checker.getTypeOfSymbol(it)))
  }
  function lookAndKeep(type, depth) {
    if (known.has(type)) return known.get(type)
    known.set(type, false)
    const found = look(type, depth)
    known.set(type, found)
    return found
  }
}

function isOurs(symbol) {
  return (symbol.declarations ?? []).every((it) => !/[\\/]node_modules[\\/]/.test(it.getSourceFile().fileName))
}

function propertyType(checker, target, name, at) {
  const types = (target.isUnion() ? target.types : [target]).flatMap((it) => {
    const symbol = it.getProperty(name)
    return symbol ? [checker.getTypeOfSymbolAtLocation(symbol, at)] : []
  })
  return types[0]
}

/** Returns a function that is true if all values of one type are allowed where they flow to. */
function flowsIn(checker, mentions) {
  const known = new Map()
  return function flows(from, to, depth = 0) {
    if (from === to || depth > 5 || !mentions(to)) return true
    const key = known.get(from) ?? new Map()
    known.set(from, key)
    if (key.has(to)) return key.get(to)
    key.set(to, true)
    const answer = look(from, to, depth)
    key.set(to, answer)
    return answer
  }
  function look(from, to, depth) {
    const on = (a, b) => {
      const key = known.get(a) ?? new Map()
      known.set(a, key)
      if (a === b || depth > 5 || !mentions(b)) return true
      if (key.has(b)) return key.get(b)
      key.set(b, true)
      const answer = look(a, b, depth + 1)
      key.set(b, answer)
      return answer
    }
    if (from.isUnion()) return from.types.every((it) => on(it, to))
    if (
      from.flags &
      (ts.TypeFlags.Any |
        ts.TypeFlags.Never |
        ts.TypeFlags.Null |
        ts.TypeFlags.Undefined |
        ts.TypeFlags.Void |
        ts.TypeFlags.BooleanLike |
        ts.TypeFlags.NumberLike)
    )
      return true
    if (isSuggestion(from) || isBranded(from) || from.isStringLiteral()) return true
    const targets = to.isUnion() ? to.types : [to]
    if (from.flags & ts.TypeFlags.StringLike) return !targets.some(isSuggestion)
    if (from.flags & ts.TypeFlags.TypeParameter)
      return checker.getBaseConstraintOfType(from) ? on(checker.getBaseConstraintOfType(from), to) : true
    return targets.every((target) => {
      if (!mentions(target) || isSuggestion(target)) return true
      const [own, wanted] = [from, target].map((it) => checker.getIndexTypeOfType(it, ts.IndexKind.Number))
      if (wanted) return !own || on(own, wanted)
      if (from.target && from.target === target.target) {
        const [mine, theirs] = [from, target].map((it) => checker.getTypeArguments(it))
        return mine.every((it, at) => !theirs[at] || on(it, theirs[at]))
      }
      for (const signature of target.getCallSignatures()) {
        const made = from.getCallSignatures().map((it) => it.getReturnType())
        if (!made.every((it) => on(awaited(checker, it), awaited(checker, signature.getReturnType())))) return false
      }
      return target.getProperties().every((property) => {
        const given = from.getProperty(property.name)
        return !given || !isOurs(property) || on(checker.getTypeOfSymbol(given), checker.getTypeOfSymbol(property))
      })
    })
  }
}

function awaited(checker, type) {
  return checker.getAwaitedType(type) ?? type
}
