/** A pattern that a function builds of texts, with an example of what it makes. */
export interface Built {
  file: string
  /** the expression as it stands there */
  text: string
  example: RegExp
}

/** Every `new RegExp(…)` in a function of src/ that does not run when its file is loaded, in the order of the files. */
export const built: readonly Built[] = [
  {
    file: 'src/adapters/external-system/index.ts',
    text: "new RegExp(`^${key}=(.+)$`, 'm')",
    example: /^CN=(.+)$/m,
  },
  {
    file: 'src/adapters/log-file.ts',
    text: 'new RegExp(`^${form}${compressed}$`)',
    example: new RegExp(
      String.raw`^\.log(?:[._-]\d{4}-?\d{2}-?\d{2}(?:[T_.-]?\d{2}(?:[-:.]?\d{2}){0,2})?(?:[._-]\d{1,6})?|` +
        String.raw`\.\d{1,6})(?:\.(?:gz|gzip|zst|zstd|bz2|xz|zip|lz4))?$`,
    ),
  },
  {
    file: 'src/adapters/redis/index.ts',
    text: "new RegExp(`^${name}:(.*?)\\\\r?$`, 'm')",
    example: /^role:(.*?)\r?$/m,
  },
  {
    file: 'src/core/redaction/given.ts',
    text: "new RegExp(`(?<!\\\\w)${value.replace(/[\\\\^$.*+?()[\\]{}|]/g, '\\\\$&')}(?!\\\\w)`, 'g')",
    example: /(?<!\w)aaa1(?!\w)/g,
  },
  { file: 'src/knowledge/broker.ts', text: 'new RegExp(pattern)', example: /^a*b*$/ },
  {
    file: 'src/knowledge/explain/search/search.ts',
    text: "new RegExp(pattern.source, 'i')",
    example: /waiting for changelog lock\.\.\./i,
  },
  {
    file: 'src/lab/external-system/control.ts',
    text: 'new RegExp(`<-- ${status} [^\\\\n<]*${currentUserPath}`)',
    example: /<-- 401 [^\n<]*\/rest\/api\/2\/myself/,
  },
  {
    file: 'src/lab/servers/packages/debian.ts',
    text: "new RegExp(`^${name}:[ \\\\t]*(.*(?:\\\\n[ \\\\t]+.*)*)`, 'im')",
    example: /^Types:[ \t]*(.*(?:\n[ \t]+.*)*)/im,
  },
  {
    file: 'src/platforms/compose/place.ts',
    text:
      'new RegExp(`^[ \\\\t]*${name}[ \\\\t]*=(?:[ \\\\t]*(?:"(?:[^"\\\\\\\\\\\\n]|\\\\\\\\.)*"|' +
      "'[^'\\\\n]*')|[^\"'\\\\n]*?)?` +" +
      "'((?<![ \\\\t])[ \\\\t]+#[^\\\\r\\\\n]*)?\\\\r?$','gm',)",
    example:
      /^[ \t]*NAME[ \t]*=(?:[ \t]*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')|[^"'\n]*?)?((?<![ \t])[ \t]+#[^\r\n]*)?\r?$/gm,
  },
  {
    file: 'src/platforms/compose/place.ts',
    text: "new RegExp(`^[ \\\\t]*${name}[ \\\\t]*=[^\\\\r\\\\n]*`, 'gm')",
    example: /^[ \t]*NAME[ \t]*=[^\r\n]*/gm,
  },
  {
    file: 'src/platforms/host/systemd.ts',
    text: "new RegExp(`[${text.slice(1, -1).replace(/^!/, '^').replaceAll('\\\\', '\\\\\\\\')}]`)",
    example: /[^a-z_]/,
  },
]
