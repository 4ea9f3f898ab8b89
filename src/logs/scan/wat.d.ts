/** The text of a WebAssembly module, as bytes that can be compiled: see bin/wat.js. */
declare module '*.wat' {
  const module: Uint8Array<ArrayBuffer>
  export default module
}
