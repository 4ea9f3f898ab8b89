// What a scan calls in WebAssembly: ../native.ts. Compiled twice, with SIMD and without.
export * from './bytes'
export * from './find'
export * from './layout'
export * from './record'
export * from './tally'
