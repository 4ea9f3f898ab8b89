/** '1,284'; without Node's tables of languages, which take a while to load */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
