/* oxlint-disable typescript/consistent-type-imports -- such a module imports nothing by a relative path */
declare module 'proxy-from-env' {
  /** Returns the proxy for an address; the empty text if there is none */
  export function getProxyForUrl(url: string): string
}

/** The files under explain/, checked and in the order of display: see bin/explain-texts.js. */
declare module '*/explain/index.yaml' {
  export const checkTexts: readonly import('./knowledge/explain/entry.ts').ExplainEntry[]
  export const faultTexts: readonly import('./knowledge/explain/entry.ts').ExplainText[]
  export const signatureTexts: readonly import('./knowledge/explain/entry.ts').SignatureText[]
  export const termTexts: readonly import('./knowledge/explain/entry.ts').ExplainText[]
}

/** A module in AssemblyScript, as bytes that can be compiled: see bin/wasm.js. */
declare module '*.as' {
  const module: Uint8Array<ArrayBuffer>
  export default module
}

/** The parts of WebAssembly that are used here. TypeScript knows them for browsers only. */
declare namespace WebAssembly {
  function validate(code: Uint8Array<ArrayBuffer>): boolean
  class Module {
    constructor(code: Uint8Array<ArrayBuffer>)
  }
  class Memory {
    readonly buffer: ArrayBuffer
    grow(pages: number): number
  }
  class Instance {
    constructor(module: Module, imports: Record<string, never>)
    readonly exports: unknown
  }
}
