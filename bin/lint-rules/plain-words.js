import { fileURLToPath } from 'node:url'
import { fromYAMLFilePath } from 'prh'
import { isJoined } from './joined.js'

const words = fromYAMLFilePath(fileURLToPath(new URL('words.yaml', import.meta.url)))

/**
 * Strings hold no turn of phrase of words.yaml, as documents do not (.textlintrc.json). One word alone is a name. What
 * a long line is broken into is one string.
 */
export const plainWords = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { turn: 'Plain words (bin/lint-rules/words.yaml): "{{found}}" => {{expected}}' },
  },
  create(context) {
    const judge = (node, text) => {
      if (!/\S\s+\S/.test(text)) return
      for (const { matches, expected } of words.makeChangeSet('', text).diffs)
        context.report({ node, messageId: 'turn', data: { found: matches[0], expected } })
    }
    return {
      'Literal, TemplateLiteral'(node) {
        if (!isJoined(node.parent)) judge(node, textOf(node))
      },
      BinaryExpression(node) {
        if (isJoined(node) && !isJoined(node.parent)) judge(node, textOf(node))
      },
    }
  },
}

/** A value counts as a word. */
function textOf(node) {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : 'it'
    case 'TemplateLiteral':
      return node.quasis.map(({ value }) => value.cooked ?? '').join('it')
    case 'BinaryExpression':
      return node.operator === '+' ? textOf(node.left) + textOf(node.right) : 'it'
    default:
      return 'it'
  }
}
