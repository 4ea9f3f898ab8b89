/** The parts of WebAssembly that are used here. TypeScript knows them for browsers only. */
declare namespace WebAssembly {
  function validate(code: Uint8Array<ArrayBuffer>): boolean
  class Module {
    constructor(code: Uint8Array<ArrayBuffer>)
  }
  class Memory {
    constructor(pages: { initial: number; maximum: number })
    readonly buffer: ArrayBuffer
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, Memory>>)
    readonly exports: unknown
  }
}
