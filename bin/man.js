// Man pages, from the same manifest as the help: one of the program, and one of each command.

/** Returns a text as roff takes it: nothing in it is a request, and dashes can be copied. */
function roff(text) {
  return (
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replace(/`([^`]*)`/g, '\\fB$1\\fR')
      .replace(/^(?=[.'])/gm, '\\&')
      // groff alone reads ASCII
      .replace(
        /[^\x20-\x7e\n]/gu,
        (character) => `\\[u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
      )
  )
}

/** Returns paragraphs as lines of roff. Where one ends with a list, lines that begin with two spaces are items. */
function paragraphs(text) {
  return text.split('\n\n').flatMap((block) => {
    const lines = block.split('\n')
    const isItem = (line) => line.startsWith('  ')
    const items = lines.filter(isItem)
    return [
      '.PP',
      roff(lines.filter((line) => !isItem(line)).join(' ')),
      ...(items.length > 0 ? ['.PD 0', ...items.flatMap((item) => ['.IP "" 2', roff(item.trim())]), '.PD'] : []),
    ]
  })
}

const named = (id) => ['testops-admin', ...id.split(':')].join(' ')
const pageOf = (id) => ['testops-admin', ...id.split(':')].join('-')
const filled = (text) => text.replaceAll('<%= config.bin %>', 'testops-admin')

function head(name, version) {
  // words that are copied are neither broken nor stretched
  return `.TH "${roff(name.toUpperCase())}" "1" "" "testops\\-admin ${roff(version)}" ""\n.nh\n.ad l`
}

function flagLines([name, { char, helpValue, summary = '', env, options, type, multiple, default: preset }]) {
  const kind = helpValue ?? (options ? options.join('|') : 'VALUE')
  const value = type === 'option' ? ` ${roff(`${kind}${multiple ? '...' : ''}`)}` : ''
  const isTold = typeof preset === 'string' || typeof preset === 'number'
  return [
    '.TP',
    `.B ${char ? `\\-${char}, ` : ''}\\-\\-${roff(name)}${value}`,
    roff(`${summary}${isTold ? ` (default ${preset})` : ''}${env ? ` (${env})` : ''}`),
  ]
}

function exampleLines(example) {
  const { description, command } = typeof example === 'string' ? { command: example } : example
  return [
    '.PP',
    ...(description ? [`${roff(description)}:`] : []),
    '.PP',
    '.RS 4',
    '.nf',
    roff(filled(command)),
    '.fi',
    '.RE',
  ]
}

function commandPage({ id, summary = '', description = '', args, flags, examples = [] }, version) {
  const shown = Object.entries(flags).filter(([, { hidden }]) => !hidden)
  const own = shown.filter(([, { helpGroup }]) => helpGroup !== 'COMMON')
  const common = shown.filter(([, { helpGroup }]) => helpGroup === 'COMMON')
  const taken = Object.values(args).filter((it) => !it.hidden)
  const words = taken.map(({ name, required }) => (required ? name.toUpperCase() : `[${name.toUpperCase()}]`))
  return [
    head(pageOf(id), version),
    '.SH NAME',
    `${roff(pageOf(id))} \\- ${roff(summary)}`,
    '.SH SYNOPSIS',
    `.B ${roff(named(id))}`,
    roff([...words, '[FLAGS]'].join(' ')),
    '.SH DESCRIPTION',
    ...paragraphs(filled(description || summary)),
    ...(taken.length > 0
      ? [
          '.SH ARGUMENTS',
          ...taken.flatMap((it) => ['.TP', `.B ${roff(it.name.toUpperCase())}`, roff(it.description ?? '')]),
        ]
      : []),
    ...(own.length > 0 ? ['.SH OPTIONS', ...own.flatMap(flagLines)] : []),
    '.SH COMMON OPTIONS',
    ...common.flatMap(flagLines),
    ...(examples.length > 0 ? ['.SH EXAMPLES', ...examples.flatMap(exampleLines)] : []),
    '.SH SEE ALSO',
    '.BR testops\\-admin (1)',
  ]
}

function mainPage(commands, version, about) {
  return [
    head('testops-admin', version),
    '.SH NAME',
    `testops\\-admin \\- ${roff(about)}`,
    '.SH SYNOPSIS',
    '.B testops\\-admin',
    'COMMAND [FLAGS]',
    '.SH DESCRIPTION',
    'Each command has a page of its own, such as',
    '.BR testops\\-admin\\-doctor (1).',
    '.SH COMMANDS',
    ...commands.flatMap(({ id, summary = '' }) => ['.TP', `.B ${roff(named(id))}`, roff(summary)]),
    '.SH FILES',
    '.TP',
    '.B testops\\-admin.yaml',
    'The configuration, in this folder or a parent folder.',
    '.TP',
    '.B ~/.config/testops\\-admin/config.yaml',
    'The configuration if there is none here or above.',
    '.TP',
    '.B ~/.local/state/testops\\-admin',
    'The journals of repairs.',
    '.SH ENVIRONMENT',
    roff(
      'Every flag can also be set as an environment variable: TESTOPS_ADMIN_DEPLOYMENT for --deployment. NO_COLOR ' +
        'turns colours off.',
    ),
  ]
}

/** Returns the text of each page by its file name. */
export function manPages(commands, { version, description }) {
  const all = Object.values(commands).filter(({ hidden }) => !hidden)
  const pages = [
    ['testops-admin', mainPage(all, version, description)],
    ...all.map((it) => [pageOf(it.id), commandPage(it, version)]),
  ]
  return new Map(pages.map(([name, lines]) => [`${name}.1`, `${lines.filter((line) => line !== '').join('\n')}\n`]))
}
