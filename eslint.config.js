import regexp from 'eslint-plugin-regexp'
import tseslint from 'typescript-eslint'
import { plainWords } from './bin/lint-rules/plain-words.js'
import { platformTraits } from './bin/lint-rules/platform-traits.js'
import { quotedCommands } from './bin/lint-rules/quoted-commands.js'

// what oxlint knows is in .oxlintrc.json: it takes a quarter of the time
export default tseslint.config(
  { ignores: ['dist/', 'node_modules/'] },
  {
    files: ['src/**/*.ts'],
    extends: [tseslint.configs.base],
    // without the tests: no rule needs their types
    languageOptions: {
      parserOptions: { project: 'bin/lint-rules/tsconfig.lint.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    // what a pattern meets may come from outside, and be of any length
    files: ['src/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false, ignorePartial: false }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/runtime/**', 'src/cli/**', 'src/commands/**', 'src/lab/**', 'src/main.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "MemberExpression[object.name='process'][property.name=/^(cwd|env|argv)$/]",
          message: 'What comes from the process enters through runtime/ or cli/.',
        },
        { selector: "CallExpression[callee.object.name='console']", message: 'Only cli/ and commands/ print.' },
      ],
    },
  },
  {
    files: ['src/cli/**/*.ts', 'src/commands/**/*.ts', 'src/main.ts'],
    ignores: ['src/cli/write.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.property.name=/^(write|writeSync)$/]',
          message: 'src/cli/write.ts prints: nothing foreign passes it that steers a terminal.',
        },
        {
          selector: "CallExpression[callee.name='writeSync']",
          message: 'src/cli/write.ts prints: nothing foreign passes it that steers a terminal.',
        },
        { selector: "CallExpression[callee.object.name='console']", message: 'src/cli/write.ts prints.' },
        {
          selector:
            "CallExpression[callee.object.type='ThisExpression'][callee.property.name=/^(log|warn|logToStderr|logJson)$/]",
          message: 'src/cli/write.ts prints, not oclif.',
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: {
      own: {
        rules: { 'quoted-commands': quotedCommands, 'platform-traits': platformTraits, 'plain-words': plainWords },
      },
    },
    rules: { 'own/quoted-commands': 'error', 'own/plain-words': 'error' },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/platforms/**', 'src/runtime/**', 'src/knowledge/**', 'src/lab/**', 'src/cli/init/**'],
    rules: { 'own/platform-traits': 'error' },
  },
  {
    // commands that the lab runs itself, and shows to nobody
    files: ['src/lab/**/*.ts', 'src/docs.ts'],
    rules: { 'own/quoted-commands': ['error', { looks: false }] },
  },
)
