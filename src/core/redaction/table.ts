/**
 * The one table of what is secret: by the name before a value, and by the form of the value itself. Names are parts in
 * lower case: `SPRING_DATASOURCE_PASSWORD` and `datasourcePassword` both end in `password`.
 */

/** Shown in place of a secret. */
export const mask = '[secret]'

/** A mask, for patterns; in a report, each secret has a number. */
export const anyMask = String.raw`\[secret(?:-\d{1,9})?\]`
const maskHere = new RegExp(anyMask, 'y')
const maskAnywhere = new RegExp(anyMask)

/** Returns true if a mask begins there. */
export function isMaskAt(text: string, at: number): boolean {
  maskHere.lastIndex = at
  return maskHere.test(text)
}

/** Returns true if a text shows a mask, so that it is not what it was. */
export function hasMask(text: string): boolean {
  return maskAnywhere.test(text)
}

/** Endings of names whose value is secret, also if nothing separates the parts of the name: DBPASSWORD, accesstoken. */
const endings = [
  'password',
  'passwort',
  'passwd',
  'passphrase',
  'passcode',
  'passwords',
  'pwd',
  'pswd',
  'pw',
  'secret',
  'secrets',
  'token',
  'tokens',
  'apikey',
  'secretkey',
  'accesskey',
  'privatekey',
  'authkey',
  'licensekey',
  'licencekey',
  'jsessionid',
  'sessionid',
  'phpsessid',
  'credential',
  'credentials',
  'cookie',
  'requirepass',
  'masterauth',
]

/** The same endings in Russian, in the cases of the nouns. */
const russian = new RegExp('(?:парол(?:ь|я|ю|ем|е|и)|токен(?:а|у|ом|е|ы)?|секрет(?:а|у|ом|е|ы|ный)?)$')
/** Beginnings of these, for patterns that search text */
export const inRussian = 'парол|токен|секрет|ключ'
const keyInRussian = 'ключ'

/** Words that end in `pass` but name no password: English words, and a flag of redis-cli. */
const otherPass = /(?:by|com|tres|encom|sur|over|under|ask)pass$/

/** A `key` is secret after one of these: `secretKey`, `aws_secret_access_key`; in Russian `секретный ключ`. */
const secretKeys = new RegExp(
  '^(?:secret|access|private|api|encryption|crypto|signing|jwt|shared|master|account|auth|storage|hmac|aes|rsa|' +
    'client|licen[cs]e|секретный|секретного|закрытый|приватный)$',
)

/** A `secret` after one of these is a Kubernetes object, which is named, not shown. */
const namedSecrets = /^(?:pull|existing|external|tls|kubernetes|k8s|secret)$/

/**
 * How surely a name marks its value as secret. `strong`: any value but a word of prose. `weak`: a word with other
 * meanings (`pass`), so that the value must look like a secret too. `session`: the same, and only after an equals sign.
 * `vague`: a word for many things, among them a login in base64. The others are headers, which are secret as a whole.
 */
export type NameKind = 'strong' | 'weak' | 'vague' | 'session' | 'authorization' | 'cookie'

/** Most names are no secret's: this shows it before they are taken apart. */
const hint = new RegExp(`pass|pw|pswd|csrf|xsrf|secret|token|key|cred|auth|cookie|sess|^sid$|sig|${inRussian}`, 'i')

/** Returns the parts of a name, in lower case and without a number at the end; of a very long name, the last ones. */
function partsOf(name: string): string[] {
  return name
    .slice(-80)
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .map((part) => part.replace(/\d{1,80}$/, ''))
    .filter((part) => part !== '')
}

/**
 * Returns how surely this name marks the value after it as secret; null: it does not. Its last part counts:
 * PASSWORD_RESET_URL is an address.
 */
export function kindOfName(name: string): NameKind | null {
  if (!hint.test(name) || /(?:invalid|unsupported|expired)[_-]token/i.test(name)) return null
  const parts = partsOf(name)
  const [before = '', last = ''] = [parts.at(-2), parts.at(-1)]
  if (last === 'authorization') return 'authorization'
  if (last === 'cookie' && (parts.length === 1 || before === 'set')) return 'cookie'
  if (last === 'secret' && namedSecrets.test(before)) return null
  if (last === 'key' || last === keyInRussian)
    return secretKeys.test(before) || (last === 'key' && parts.length === 1 && /^x-?api/i.test(name)) ? 'strong' : null
  // the key in a kubeconfig; the certificate beside it is no secret
  if (last === 'data' && before === 'key' && secretKeys.test(parts.at(-3) ?? '')) return 'strong'
  if (last === 'id' && (before === 'session' || before === 'sess')) return 'strong'
  if (/^(?:credentials?|tokens|secrets|passwords)$/.test(last)) return 'weak'
  if (endings.some((ending) => last.endsWith(ending)) || russian.test(last)) return 'strong'
  if (last.endsWith('pass') && !otherPass.test(last)) return parts.length > 1 || last !== 'pass' ? 'strong' : 'weak'
  // AUTH is a command of Redis
  if (last === 'auth' && (parts.length > 1 || name.startsWith('_') || name === 'AUTH')) return 'weak'
  if (last === 'csrf' || last === 'xsrf') return 'weak'
  if (last === 'auth') return 'vague'
  if (/^(?:session|sid|sig|signature)$/.test(last)) return 'session'
  return null
}

/**
 * Returns true if the value of a setting, a parameter or a key of that name is never shown. Covers more names than the
 * search in running text, since hiding a value here loses nothing.
 */
export function isSecretName(name: string): boolean {
  return keptNames.test(name)
}

const keptNames = new RegExp(
  'pass(?:word|wd|phrase|code)|^pass$|(?:^|[._-])(?:pass|pwd|pin|otp|cvv|cvc)(?:$|[._-])|' +
    'secret|token|credential|authori[sz]ation|cookie|private|(?:api|access|licen[cs]e)[._-]?key|парол|токен|секрет',
  'i',
)

/**
 * Returns true if the value of a variable of that name is secret, by words in it. Includes lifetimes of tokens, except
 * `TOKEN_VALIDITY`.
 */
export function isSecretVariable(name: string): boolean {
  return secretVariables.test(name)
}

const secretVariables = new RegExp(
  'PASS|_PWD$|SECRET|TOKEN(?!_VALIDITY)|CREDENTIAL|PRIVATE|(?:^|_)(?:API_?|ACCESS_?)?KEY$|' +
    '(?:^|[_.-])LICEN[CS]E(?:[_.-]?(?:KEYS?|CODE|STRING|DATA|CONTENTS?|TEXT|VALUE|BASE64|B64|JWT|PEM|SERIAL|NUMBER))*' +
    '(?:_?\\d{1,3})?$|' +
    '(?:^|[_.-])PIN(?:[_.-]?(?:CODE|NUMBER))?(?:_?\\d{1,3})?$',
  'i',
)

/** Returns true if an address in this text holds a password, in its login or in its query. */
export function hasPassword(text: string): boolean {
  return /:\/\/[^@/:\s]*:[^@/\s]*@|[?&]password=/i.test(text)
}

/** Values that are secret by themselves, whatever stands before them. */
export const forms: readonly RegExp[] = [
  // a JWT, or its beginning
  /(?<![\p{L}\p{N}])eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/giu,
  // GitLab, GitHub, Slack, npm, PyPI, Docker, Vault, Atlassian
  new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?:gl(?:pat|dt|rt|ptt|ft|soat|cbt|agent|imt)-[\w.-]{5,}|gh[oprsu]_\w{5,}|` +
      String.raw`github_pat_\w{5,}|xox[abeprs]-[\w-]{6,}|xapp-[\w-]{6,}|npm_\w{20,}|pypi-[\w-]{20,}|` +
      String.raw`dckr_pat_[\w-]{6,}|hv[sb]\.[\w-]{20,}|ATATT3[\w=+/-]{6,})`,
    'giu',
  ),
  // GitHub's older form, with dashes
  /(?<![\p{L}\p{N}])gh[opsu]-[\w-]{10,}/giu,
  // a password with the scheme that encodes it, as Spring and LDAP store it
  new RegExp(
    String.raw`\{(?:noop|bcrypt|cipher|crypt|clear|cleartext|plain|s?md5|s?sha(?:-?\d{1,3})?|` +
      String.raw`(?:pbkdf2|scrypt|argon2)(?:@[\w.-]{1,40})?)\}` +
      '[^\\s"\'`,;<>{}()[\\]]{3,}',
    'gi',
  ),
  // a private key in DER that has lost its first line, or its PEM in base64; certificates and public keys do not match
  new RegExp(
    String.raw`(?<![\w+/])MII(?![\w+/]{2}[DTjz](?:CC|AN))[\w+/]{60,}={0,2}` +
      String.raw`(?:\r?\n[ \t]{0,40}[\w+/]{60,76}(?![\w+/=]))*` +
      '(?:\\r?\\n[ \\t]{0,40}[\\w+/]{1,76}={0,2}(?=\\s|["\'`]|$))?',
    'g',
  ),
  /(?<![\w+/])(?:MI[GH][\w+/]AgE(?:AMB|BB)|M[CH][\w+/]CAQ(?:EE|Aw))[\w+/]{20,}={0,2}/g,
  /(?<![\w+/])LS0tLS1CRUdJT(?!iBD|iBQVUJM)[\w+/]{20,}={0,2}/g,
  // Amazon, Google
  /(?<![\p{L}\p{N}])(?:A(?:KIA|SIA)[A-Z0-9]{12,}|AIza[\w-]{30,})/giu,
]

/** Words that follow a name in prose, and are no value: `password: required`, `token is expired`. */
const prose = new Set(
  `a an the this that these those it its is are was were be been has have had will would can cannot could may might must
  need needs should shall does do did done not no none null nil nothing never without with in on at of for from by to as
  and or but if when where which who what only also than then too used true false yes on off undefined unset set enabled
  disabled active inactive present empty blank missing absent required optional expected unexpected unknown invalid
  valid wrong bad incorrect mismatch malformed expired expires expiring revoked refused rejected denied accepted allowed
  ok okay failed failure error errors changed reset given found used unused stored kept hidden read authentication
  authorization auth login user username name names value values key keys token tokens password passwords secret secrets
  credentials header headers realm validity lifetime type types scheme length exchange store provider manager endpoint
  string object array file files environment variable variables text field option flag here there see run your our my
  their his her one two there's isn't it's doesn't basic bearer digest negotiate ntlm optional default anonymous every
  all any each more other another new old again either let via per so because while until after before during since
  access_token refresh_token id_token api-token testops-admin
  введите неверный не нет отсутствует истёк истек нужен нужна обязателен включён включен отключён отключен`.split(
    /\s+/,
  ),
)

export function isProse(word: string): boolean {
  return prose.has(word.toLowerCase())
}

/** After an equals sign most words are values; these say that there is none, or what its state is. */
const empty = new Set(
  (
    'null nil none true false undefined unset yes no not is on off required missing optional enabled disabled ' +
    'absent present expired revoked invalid valid unknown'
  ).split(' '),
)

/** Returns true if this word stands in place of a value, whatever separates it from its name. */
export function isEmptyWord(word: string): boolean {
  return empty.has(word.toLowerCase())
}

/**
 * Placeholders for a value: a variable, a place in a format, a word in brackets, dots, stars, a reference as this
 * program takes it.
 */
const readByShell = '\\$\\((?:cat |< ?)[^()$`\\n]{1,250}\\)'
const placeholder = new RegExp(
  '^(?:' +
    [
      String.raw`\$\{[\w.:-]*\}|\$\([A-Z_]{2,}\)`,
      readByShell,
      String.raw`\$[A-Z_]{2,}|<[\w .-]*>|<-|\{\{?[\w. -]*\}?\}|%[sdvqi]`,
      String.raw`\*{3,}|\u2022+|\u2026|\.{3}|[xX]{3,}|[-\u2013\u2014]`,
      anyMask,
      String.raw`@[A-Z]+|@-|@\.{0,2}\/[\w./-]+|(?:env|file|kubernetesSecret):[\w./-]+`,
      String.raw`[A-Z]+(?:\/[A-Z]+)+|FILE|SECRET|TOKEN|PASSWORD|PW|NAME|VALUE`,
    ].join('|') +
    ')$',
)

export function isPlaceholder(value: string): boolean {
  return value === '' || placeholder.test(value)
}

const variable = new RegExp(
  String.raw`(?:\$\{[\w.:-]{0,80}\}|${readByShell}|\{\{[^{}\n]{0,80}\}\}|<[\w .-]{0,40}>)` +
    '(?=[\\s"\'`,;:.)}\\]@/]|$)',
  'y',
)

/** Returns true if a variable or a placeholder begins there, whose marks would otherwise end a value. */
export function isVariableAt(text: string, at: number): boolean {
  variable.lastIndex = at
  return variable.test(text)
}

/**
 * Returns true if a text looks like a secret: letters with digits, symbols or inner capitals, and none of the usual
 * other things.
 */
export function looksSecret(value: string): boolean {
  const { length } = value
  if (length < 6 || isProse(value) || isPlaceholder(value)) return false
  if (!/\p{L}/u.test(value)) return false
  if (length > 200) return true
  // encoded by a scheme, or hexadecimal without a digit
  if (/^\{[\w.@+-]{1,40}\}.|^[a-f]{8,}$/i.test(value)) return true
  if (!/\d|[!@#$%^&*+=?~]|\p{Ll}\p{Lu}/u.test(value)) return false
  return !usual.some((it) => it.test(value))
}

const usual: readonly RegExp[] = [
  // a path, an address, a file
  /^\.{0,2}\/|:\/\/|\.(?:ya?ml|json|pem|crt|key|properties|java|kt|ts|js)\b/,
  // a host
  /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}\.[a-z]{2,15}(?::\d{1,5})?\.?$/i,
  // a user at a host
  /^[\w.+-]+@[\w.-]+$/,
  // a variable, a class or a call
  /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/,
  /^(?:[a-z]\w*\.)+[A-Z]\w*/,
  /^[\w.$]+\(/,
  // a time, a version, an amount
  /^\d{4}-\d\d-\d\d/,
  /^v?\d+(?:\.\d+)+(?:[-+][\w.]+)?$/,
  /^\d+(?:[.,]\d+)?[a-z%]{1,7}$/i,
  // a run of this program
  /^\d{8}T\d{6}Z-/,
  // a setting, NAME=VALUE, which the padding of base64 is not
  /^[A-Za-z_.-]+=(?=[\w"'/$<{*.-])/,
]
