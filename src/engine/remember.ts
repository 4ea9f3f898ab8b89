/**
 * The same source, of which every question is asked once: later askers share the first answer or failure. So all checks
 * of a run judge one state, and a question that several have costs the deployment one call.
 */
export function remember<T extends object>(source: T): T {
  const answers = new Map<string, unknown>()
  return new Proxy(source, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...input: unknown[]): unknown => {
        const question = `${String(property)} ${JSON.stringify(input)}`
        if (!answers.has(question)) answers.set(question, Reflect.apply(value, target, input))
        return answers.get(question)
      }
    },
  })
}
