export function compileWat(path: string): Promise<Uint8Array>
