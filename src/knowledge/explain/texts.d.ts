/* eslint-disable @typescript-eslint/consistent-type-imports -- such a module imports nothing by a relative path */
/** The files under explain/, checked and in the order of display: see bin/explain-texts.js. */
declare module '*/explain/index.yaml' {
  export const checkTexts: readonly import('./entry.ts').ExplainEntry[]
  export const faultTexts: readonly import('./entry.ts').ExplainText[]
  export const signatureTexts: readonly import('./entry.ts').SignatureText[]
  export const termTexts: readonly import('./entry.ts').ExplainText[]
}
