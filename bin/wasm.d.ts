export function compileWasm(path: string): Promise<Uint8Array>
