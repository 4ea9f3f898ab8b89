import type { Rule } from 'eslint'

export const platformTraits: Rule.RuleModule
