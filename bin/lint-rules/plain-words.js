import { fileURLToPath } from 'node:url'
import { fromYAMLFilePath } from 'prh'

const words = fromYAMLFilePath(fileURLToPath(new URL('words.yaml', import.meta.url)))

/**
 * Strings hold no turn of phrase of words.yaml, as documents do not (.textlintrc.json). One word alone is a name. A value
 * in a template counts as a word.
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
      Literal(node) {
        if (typeof node.value === 'string') judge(node, node.value)
      },
      TemplateLiteral(node) {
        judge(node, node.quasis.map(({ value }) => value.cooked ?? '').join('it'))
      },
    }
  },
}
