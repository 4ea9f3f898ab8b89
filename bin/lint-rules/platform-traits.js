const names = new Set(['host', 'compose', 'kubernetes'])

/** Forbids asking for a platform's name: such code must be found again for the next platform. Ask for a trait. */
export const platformTraits = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      named: 'Ask for a trait of the platform (`traitsOf` of src/knowledge/platforms.ts), not for its name.',
    },
  },
  create(context) {
    const report = (node) => {
      if (node?.type === 'Literal' && names.has(node.value)) context.report({ node, messageId: 'named' })
    }
    return {
      BinaryExpression({ operator, left, right }) {
        if (!/^[!=]==?$/.test(operator)) return
        report(left)
        report(right)
      },
      SwitchCase: ({ test }) => report(test),
      Property({ key, value }) {
        if ((key.name ?? key.value) === 'platform') report(value)
      },
    }
  },
}
