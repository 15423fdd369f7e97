/** Whether a text is a function to call, not an expression. */
export function looksLikeFunction(text: string): boolean {
  const source = withoutLeadingComments(text);
  if (/^(async\s+)?function\b/.test(source)) return !isCalled(source);
  const arrow = source.replace(/^async\s+(?=[\w$(])/, '').replace(/^async(?=\()/, '');
  if (/^[A-Za-z_$][\w$]*\s*=>/.test(arrow)) return true;
  if (!arrow.startsWith('(')) return false;
  const end = closingParenthesis(arrow);
  return end !== undefined && /^\s*=>/.test(arrow.slice(end + 1));
}

function withoutLeadingComments(text: string): string {
  return text.replace(/^(?:\s+|\/\/[^\n]*\n|\/\*.*?\*\/)+/s, '');
}

/** A function that ends with its own call is an expression. */
function isCalled(source: string): boolean {
  return /\}\s*\([^{}]*\)\s*;?\s*$/.test(source) && !/\}\s*;?\s*$/.test(source);
}

/** The index of the parenthesis that closes the first one. */
function closingParenthesis(text: string): number | undefined {
  let depth = 0;
  let quote = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (quote !== '') {
      if (character === '\\') index += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'" || character === '`') quote = character;
    else if (character === '(') depth += 1;
    else if (character === ')') {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return undefined;
}
