export function englishTexts(): Record<'help' | 'words' | 'sentences', readonly string[]>
