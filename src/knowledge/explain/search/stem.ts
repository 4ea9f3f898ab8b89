/** Words that mean the same to an operator, in both languages; the first stands for all. Endings do not matter. */
const synonymLines = `
  lock locked блокировка заблокирован заблокировать лок
  queue очередь очереди
  launch запуск лаунч прогон
  result результат
  attachment вложение аттач скриншот screenshot
  tree дерево деревья
  test тест автотест
  case кейс
  login войти вход залогиниться логиниться входить входит зайти signin логин авторизоваться пускать пускает
  administrator admin администратор админ
  password пароль
  token токен
  user пользователь юзер
  session сессия
  stale устарела устаревший
  expired истекла просрочен
  clock часы
  database база
  connection подключение соединение connect подключается подключиться
  integration интеграция jira
  processor cpu процессор
  image образ
  pull pulled скачать скачивается загрузить-образ вытянуть
  container контейнер
  service сервис служба
  start стартует запускается boot
  crash падение упал падает аварийный abrupt abruptly
  broker rabbitmq rabbit брокер кролик
  memory память
  disk диск
  create создать создаются declare
  refuse refused отказывается отклоняет
  upgrade обновление апгрейд update updated
  exist exists существует
  upload uploaded загрузка загрузились загружается загрузке выгрузка
  file файл файлы
  directory folder каталог папка
  name имя
  field поле
  label метка
  certificate сертификат
  large larger big bigger большой больше huge
  missing lost пропала пропали отсутствует теряются
  empty пустой
  agent агент
  index indexed проиндексировал проиндексированы
  process processed обработал обработаны обрабатываются
  linked привязан связан привязываются связываются
  unlinked несвязанный
  attempt retry
  identical duplicate одинаковый дубликат
  move moving переносится перенести перенос переместить перемещается
  project проект
  conflict 409 конфликт
  collapse collapsed схлопнулись схлопываются схлопнулись
  show shown displayed показан показывается отображается отображаются visible виден видны вижу
  incorrectly wrong wrongly broken неправильно неверно некорректно сломалось сломались
  stuck hang зависли завис висят висит зависла
  exhausted исчерпан закончились закончилась
  alarm сигнал тревога
  watermark порог
  limit ограничение предел лимит
  blocked заблокирована-публикация
  publish publishers публикация публикацию
  proxy прокси nginx
  timeout таймаут times-out
  parameter параметр
  parameterized параметризованный
  one один
  several несколько
  many много
  quarantine карантин
  slow slowly медленно тормозит
  old старый
`

/** Words of several parts that count as one. */
const joined: readonly [RegExp, string][] = [
  [/\b(?:log|sign)(?:ged|ging|ed|ing|s)?[ -](?:in|on|into)\b/gi, 'login'],
  [/\btim(?:e|es|ed|ing)[ -]?outs?\b/gi, 'timeout'],
]

/** Maps each word's stem to the stem that stands for it. */
function synonymsBy(stem: (word: string) => string): ReadonlyMap<string, string> {
  const lines = synonymLines
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' '))
  return new Map(lines.flatMap(([first = '', ...others]) => others.map((other) => [stem(other), stem(first)] as const)))
}

/** Returns the words of a text that mean something, in lower case, without their endings. */
export function stemsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word.length > 1 && !grammar.has(word) && !noise.has(word) && !/^(?:\d{1,2}|0+)$/.test(word))
    .map(stem)
}

/** Returns the same, with one word in place of all that mean the same, in both languages. */
export function meaningsOf(text: string): string[] {
  return stemsOf(joinedUp(text)).map(meaningOf)
}

/** Returns the text with words of two parts as one: `log in`, `times out`. */
export function joinedUp(text: string): string {
  return joined.reduce((rest, [parts, word]) => rest.replace(parts, word), text)
}

/** Returns the stem that stands for all that mean the same. */
export function meaningOf(stemmed: string): string {
  return synonyms.get(stemmed) ?? stemmed
}

/** The vendor's own prefix of a setting. */
const prefix = /^[a-z]+_(?=[a-z]+_)/

/** Returns a word without its ending: near enough for English, and for cases of Russian nouns and adjectives. */
function stem(word: string): string {
  return cyrillic.test(word) ? russian(word) : /^[a-z]+$/.test(word) ? english(word) : word.replace(prefix, '')
}

function english(word: string): string {
  if (word.length < 4) return word
  const singular = word.replace(/ies$/, 'y').replace(/(?<!s)s$/, '')
  const root = singular.replace(/(?<=.{3})(?:ing|ed|ion)$/, '')
  // stopped, stop; queue, queued
  return root.replace(/([bdgmnprt])\1$/, '$1').replace(/(?<=.{3})e$/, '')
}

// made from texts: the bundle is loaded as Latin-1, so an expression may contain only ASCII
const cyrillic = new RegExp('^[а-я]+$')
const endings = new RegExp(
  '(?<=.{3})(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ться|ется|ются|ится|ия|ие|ию|ием|ии|ий|ый|ой|ей|ая|яя|ое|ее|ые|' +
    'ую|юю|ах|ях|ов|ев|ом|ем|ам|ям|ым|им|ых|их|ет|ют|ит|ят|ть|ла|ло|ли|лся|лась|лось|лись|а|о|е|и|ы|у|ю|я|й|л)$',
)
const doubled = new RegExp('нн$')
const softSign = new RegExp('(?<=.{3})ь$')

function russian(word: string): string {
  // карантина, карантин; очередь, очереди; несвязанный, несвязан
  return word.replace(endings, '').replace(softSign, '').replace(doubled, 'н')
}

/** Words that every text is full of. */
const grammar = words(
  `a an the of to in on at by for from with and or not no is are was were be been being it its this that these those as
  but if then than so such only also can could cannot may might must will would should do does did has have had what
  which who whose where when why how i we you he she they me my your our their all any some each every more most other
  another there here up out into over under after again same too very just about because while between please help get
  got see
  и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет
  о из когда даже ли если уже или ни быть был него до вас вам там потом себя может они тут где есть надо для мы их чем
  была без раз тоже под будет тогда кто этот того этого какой при об это эта эти почему часть части`,
)

/** Words that ordinary log lines are full of. */
const noise = words(
  `error errors problem issue failed failure fail exception info warn debug trace start started starting
  application seconds part parts row rule minutes ms completed finished further information expected expects main thread
  java null nullpointerexception http https using with via build passed connected closed
  ошибка проблема`,
)

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/))
}

/** True if a word says something, but nothing of a fault. */
export function isNoise(word: string): boolean {
  return noise.has(word.toLowerCase())
}

/** Stems, each with the stem that stands for it. */
export const synonyms = synonymsBy(stem)
