/**
 * Returns the lines that a build server would obey: for Azure Pipelines and TeamCity, commands anywhere in a line. For
 * GitHub, commands after leading blanks, unless they are an IPv6 address.
 */
export function buildCommands(output: string): string[] {
  // a coloured line begins with escape codes, which the server's page removes
  const lines = output.split(/[\r\n]+/).map((line) => line.replace(/\u001b\[[\d;]*[A-Za-z]/g, ''))
  return lines.filter(
    (line) =>
      /##\w*\[/.test(line) ||
      /^::(?!(?:[\da-f]{1,4}:)*[\da-f]{1,4}(?:[^\w:-]|$))\p{L}/iu.test(line.trim()) ||
      /section_(?:start|end):\d|travis_(?:fold|time):/i.test(line),
  )
}

/** Texts that contain such commands, or do so once they are broken into lines. */
export const commandTexts: readonly string[] = [
  '##vso[task.setvariable variable=x]y',
  'a ##VSO[task.prependpath]/tmp',
  '####vso[task.complete result=Succeeded;]',
  '##[group]a',
  "##teamcity[testFailed name='a' message='b']",
  '::error file=a,line=1::b',
  ' \u00a0::set-output name=a::b',
  'a\n::add-mask::b\r\n  ::set-env name=A::b',
  `${'word '.repeat(14)}::stop-commands::x ${'word '.repeat(14)}::notice::y ##[error]z ##teamcity[message text='m']`,
  '\t::add-matcher::/tmp/x.json',
  'section_start:1560896352:a\r\u001b[0Kb',
  'travis_fold:start:a\r\u001b[0Kb',
]
