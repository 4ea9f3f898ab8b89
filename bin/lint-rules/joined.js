/** True for `a + b`: what a long line is broken into. */
export const isJoined = ({ type, operator }) => type === 'BinaryExpression' && operator === '+'
