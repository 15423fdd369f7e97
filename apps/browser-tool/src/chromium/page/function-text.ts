/** Whether a text is a function to call, not an expression. */
export function looksLikeFunction(text: string): boolean {
  const source = withoutLeadingComments(text);
  if (/^(async\s+)?function\b/.test(source)) return endsWithBody(source);
  const arrow = source.replace(/^async\s+(?=[\w$(])/, '').replace(/^async(?=\()/, '');
  if (/^[A-Za-z_$][\w$]*\s*=>/.test(arrow)) return true;
  if (!arrow.startsWith('(')) return false;
  const end = closingParenthesis(arrow);
  return end !== undefined && /^\s*=>/.test(arrow.slice(end + 1));
}

function withoutLeadingComments(text: string): string {
  return text.replace(/^(?:\s+|\/\/[^\n]*\n|\/\*.*?\*\/)+/s, '');
}

/** Whether only comments follow a function. A function that is called after its declaration is a script. */
function endsWithBody(source: string): boolean {
  for (let text = source; ;) {
    text = withoutEnd(text);
    if (text.endsWith('}')) return true;
    const comment = text.endsWith('*/')
      ? text.lastIndexOf('/*')
      : text.indexOf('//', text.lastIndexOf('\n') + 1);
    if (comment < 0) return false;
    text = text.slice(0, comment);
  }
}

/** The text without spaces and semicolons at its end. Not a regular expression, which would take long for many spaces in the middle. */
export function withoutEnd(text: string): string {
  let end = text.length;
  while (/[\s;]/.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
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
