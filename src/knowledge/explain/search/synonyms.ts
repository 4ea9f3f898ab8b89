/** Words that mean the same to an operator, in both languages; the first stands for all. Endings do not matter. */
const synonyms = `
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
export const joined: readonly [RegExp, string][] = [
  [/\b(?:log|sign)(?:ged|ging|ed|ing|s)?[ -](?:in|on|into)\b/gi, 'login'],
  [/\btim(?:e|es|ed|ing)[ -]?outs?\b/gi, 'timeout'],
]

/** Maps each word's stem to the stem that stands for it. */
export function synonymsBy(stem: (word: string) => string): ReadonlyMap<string, string> {
  const lines = synonyms
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' '))
  return new Map(lines.flatMap(([first = '', ...others]) => others.map((other) => [stem(other), stem(first)] as const)))
}
