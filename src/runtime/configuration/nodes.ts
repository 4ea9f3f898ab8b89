/** The kinds of value that a configuration may hold, and what each becomes once it has been validated. */

export interface Text {
  kind: 'text'
  about: string
  example: string
  /** What is wrong with the value, in a few words that never repeat it; null if it is fine */
  problem?: (value: string) => string | null
}

export interface File {
  kind: 'file'
  about: string
  example: string
  /** As of a text */
  problem?: Text['problem']
}

/** A whole number, 0 or more. */
export interface Whole {
  kind: 'whole'
  about: string
  example: string
}

export interface Choice<Values extends readonly string[] = readonly string[]> {
  kind: 'choice'
  about: string
  example: string
  values: Values
}

export interface SecretNode {
  kind: 'secret'
  about: string
  example: string
}

export interface List<Item extends Node = Node> {
  kind: 'list'
  about: string
  example: string
  of: Item
  /** True if a single item may stand without the brackets */
  orOne?: boolean
}

export interface Section<Keys extends SectionKeys = SectionKeys, Required extends string = string> {
  kind: 'section'
  about: string
  keys: Keys
  required: readonly Required[]
  /** Keys of which no two may stand together */
  exclusive?: readonly string[]
}

export interface Named<Item extends Node = Node> {
  kind: 'named'
  about: string
  example: string
  of: Item
  problem: (name: string) => string | null
}

export interface SectionKeys {
  readonly [key: string]: Node
}
export type Node = Text | File | Whole | Choice | SecretNode | List | Section | Named

/** Where a value stands, for errors: `testops-admin.yaml:7`. */
export type Position = string

/** A file that the configuration names, relative to its own folder. */
export interface FileReference {
  path: string
  at: Position
}

/** A reference to a secret that is kept elsewhere. */
export type SecretReference = { at: Position } & (
  | { form: 'env'; variable: string }
  | { form: 'file'; path: string }
  | { form: 'command'; command: readonly string[] }
  | { form: 'kubernetesSecret'; name: string }
)

export type Value<N> = N extends { kind: 'text' }
  ? string
  : N extends { kind: 'whole' }
    ? number
    : N extends { kind: 'file' }
      ? FileReference
      : N extends { kind: 'choice'; values: readonly (infer V)[] }
        ? V
        : N extends { kind: 'secret' }
          ? SecretReference
          : N extends { kind: 'list'; of: infer I }
            ? readonly Value<I>[]
            : N extends { kind: 'named'; of: infer I }
              ? ReadonlyMap<string, Value<I>>
              : N extends Section<infer K, infer R>
                ? { readonly [P in keyof K as P extends R ? P : never]: Value<K[P]> } & {
                    readonly [P in keyof K as P extends R ? never : P]?: Value<K[P]>
                  }
                : never

/** Keeps the literal keys of a section, so that its value has a type of its own. */
export function section<const Keys extends SectionKeys, const Required extends keyof Keys & string = never>(
  about: string,
  keys: Keys,
  options: {
    required?: readonly Required[]
    exclusive?: readonly (keyof Keys & string)[]
  } = {},
): Section<Keys, NoInfer<Required>> {
  const { required = [], exclusive } = options
  return { kind: 'section', about, keys, required, ...(exclusive && { exclusive }) }
}

export function text(about: string, example: string, problem?: Text['problem']): Text {
  return { kind: 'text', about, example, ...(problem && { problem }) }
}

export function file(about: string, example: string, problem?: Text['problem']): File {
  return { kind: 'file', about, example, ...(problem && { problem }) }
}

export function whole(about: string, example: string): Whole {
  return { kind: 'whole', about, example }
}

export function secret(about: string, example: string): SecretNode {
  return { kind: 'secret', about, example }
}

export function choice<const Values extends readonly string[]>(
  about: string,
  example: string,
  values: Values,
): Choice<Values> {
  return { kind: 'choice', about, example, values }
}

export function list<Item extends Node>(about: string, example: string, of: Item): List<Item> {
  return { kind: 'list', about, example, of }
}

export function oneOrMany<Item extends Node>(about: string, example: string, of: Item): List<Item> {
  return { kind: 'list', about, example, of, orOne: true }
}

export function named<Item extends Node>(
  about: string,
  example: string,
  of: Item,
  problem: Named['problem'],
): Named<Item> {
  return { kind: 'named', about, example, of, problem }
}

/** The words of a command: the program, then its arguments. */
export function command(about: string, example: string): List<Text> {
  return list(about, example, text('a word of the command', 'systemctl'))
}
