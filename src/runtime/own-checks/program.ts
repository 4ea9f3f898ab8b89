// Runs a check file in a process of its own: dist/runtime/own-checks/program.js, which conversation.ts starts. The
// first thread watches; a second one, which is the same program again, runs the file: only to a thread can the one
// file set a limit of memory, since it takes no flags for Node.
import { isBuiltin } from 'node:module'
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import vm from 'node:vm'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import type { FailedCheck, FromCheck, Orders, Question, ToCheck } from './conversation.ts'

/** `stack`: where the check asked */
type Asking = { resolve: (value: unknown) => void; reject: (error: Error) => void; stack: string }

const waiting = new Map<number, Asking>()
/** The questions whose failure a check may pass on */
const failures = new WeakMap<object, number>()
let asked = 0

if (isMainThread) watch()
else parentPort!.on('message', (line: string) => receive(JSON.parse(line) as Orders | ToCheck))

/** Passes lines on between the channel and the thread that runs the file, and ends when either does. */
function watch(): void {
  const channel = new Socket({ fd: 3, readable: true, writable: true })
  let received = ''
  let thread: Worker | null = null
  channel
    .setEncoding('utf8')
    .on('data', (text: string) => {
      received += text
      const lines = received.split('\n')
      received = lines.pop() ?? ''
      for (const line of lines) {
        thread ??= begin(JSON.parse(line) as Orders)
        thread.postMessage(line)
      }
    })
    .once('close', endAll)
    .once('error', endAll)

  function begin(orders: Orders): Worker {
    setTimeout(endAll, orders.mostMs).unref()
    // what does not parse ends this process: only then does Node say in which line
    moduleOf(orders)
    return new Worker(new URL(import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: orders.mostHeap } })
      .on('message', (line: string) => void channel.write(line))
      .on('error', (error) => console.error(error))
      .once('exit', (code) => process.exit(code))
  }
}

/** Ends this process and what it has started: nobody waits for it any more. */
function endAll(): void {
  process.kill(-process.pid, 'SIGKILL')
}

function tell(message: FromCheck): void {
  parentPort!.postMessage(`${JSON.stringify(message)}\n`)
}

function receive(message: Orders | ToCheck): void {
  if ('text' in message) return void obey(message)
  const asking = waiting.get(message.id)
  waiting.delete(message.id)
  if (!('error' in message)) return asking?.resolve(message.value)
  const error = Object.assign(new Error(message.error.message), { code: message.error.code })
  // its own would name this program alone
  error.stack = `Error: ${message.error.message}\n${asking?.stack ?? ''}`
  failures.set(error, message.id)
  asking?.reject(error)
}

async function obey(orders: Orders): Promise<void> {
  const module = moduleOf(orders)
  const fail = (step: FailedCheck['step']) => (thrown: unknown) => tell({ failed: { step, ...told(thrown, orders) } })
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, fail('run'))
  try {
    await module.link(imported)
    await module.evaluate()
  } catch (error) {
    return fail('load')(error)
  }
  const { default: check } = module.namespace as { default?: unknown }
  try {
    tell(
      orders.run === null
        ? { declared: declarationOf(check) }
        : { outcome: (await runOf(check)(sourcesOf(orders.run.sources), orders.run.deployment)) ?? null },
    )
  } catch (error) {
    fail(orders.run === null ? 'load' : 'run')(error)
  }
}

/** Parses a check file. Throws a SyntaxError. */
function moduleOf({ file, text }: Orders): vm.SourceTextModule {
  // a stack would name this program, and in the one file its whole text is its address
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 1
  const module = new vm.SourceTextModule(text, {
    identifier: file,
    initializeImportMeta: (meta) => void (meta.url = pathToFileURL(file).href),
    importModuleDynamically: async (specifier: string) => imported(specifier),
  })
  Error.stackTraceLimit = stackTraceLimit
  return module
}

/** Node's own modules, and what the package exports: a check is one file, which was judged. */
async function imported(specifier: string): Promise<vm.Module> {
  if (specifier !== 'testops-admin/check' && !isBuiltin(specifier))
    throw new Error(
      `it imports \`${specifier}\`, but a check file may import only modules of Node, such as \`node:fs\``,
    )
  const values =
    specifier === 'testops-admin/check'
      ? { defineCheck: (check: unknown) => check }
      : ((await import(specifier)) as Readonly<Record<string, unknown>>)
  const module = new vm.SyntheticModule(Object.keys(values), () => {
    for (const [name, value] of Object.entries(values)) module.setExport(name, value)
  })
  await module.link(imported)
  await module.evaluate()
  return module
}

/** Returns what the file says of its check; a function is only named. */
function declarationOf(check: unknown): unknown {
  if (typeof check !== 'object' || check === null) return check === undefined ? null : typeof check
  return Object.fromEntries(
    Object.entries(check).map(([key, value]) => [key, typeof value === 'function' ? 'function' : (value as unknown)]),
  )
}

function runOf(check: unknown): (...input: unknown[]) => unknown {
  return (...input) => (check as { run: (...input: unknown[]) => unknown }).run(...input)
}

function sourcesOf(sources: NonNullable<Orders['run']>['sources']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(sources).map(([source, { parts, isList, methods }]) => {
      const all = parts.map((facts, part) => ({
        ...facts,
        ...Object.fromEntries(
          methods.map((method) => {
            const own = async (...input: unknown[]): Promise<unknown> =>
              ask({ source, part, method, input }, framesAbove(own))
            return [method, own]
          }),
        ),
      }))
      return [source, isList ? all : all[0]]
    }),
  )
}

async function ask(question: Omit<Question, 'id'>, stack: string): Promise<unknown> {
  const id = (asked += 1)
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject, stack })
    tell({ ask: { id, ...question } })
  })
}

/** Returns the lines of the stack above a call of that function. */
function framesAbove(called: (...input: unknown[]) => unknown): string {
  const trace = { stack: '' }
  Error.captureStackTrace(trace, called)
  return trace.stack.split('\n').slice(1).join('\n')
}

/** Returns what was thrown, with the line of the file if its stack has one. */
function told(thrown: unknown, { file }: Orders): Omit<FailedCheck, 'step'> {
  if (!(thrown instanceof Error))
    return {
      message: `it threw ${inspect(thrown, { depth: 1, breakLength: Infinity, maxStringLength: 200 })}`,
      line: null,
    }
  const { name, message, stack = '' } = thrown
  const [, after] = stack.split(`${file}:`)
  const line = Number(/^\d+/.exec(after ?? '')?.[0] ?? Number.NaN)
  const question = failures.get(thrown)
  return {
    message: name === 'Error' ? message : `${name}: ${message}`,
    line: Number.isNaN(line) ? null : line,
    ...(question !== undefined && { question }),
  }
}
