import type { Rule } from 'eslint'

export declare const plainWords: Rule.RuleModule
