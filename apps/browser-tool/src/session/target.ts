import type { PageQuery } from '../injected/find-elements.ts';
import { ToolError } from '../errors.ts';

const REF = /^(?:@|ref=|\[ref=)?(e[1-9]\d{0,9})\]?$/;

/** Parses the target of a caller: a ref, `text=…`, `xpath=…` or `//…`, otherwise CSS. */
export function parseTarget(target: string): PageQuery {
  const text = target.trim();
  const ref = REF.exec(text)?.[1];
  if (ref !== undefined) return { kind: 'ref', ref };
  if (text.startsWith('text=')) {
    const value = text.slice('text='.length).trim();
    const quoted = /^(["'])(.*)\1$/s.exec(value)?.[2];
    if ((quoted ?? value).trim() === '') throw emptyText(target);
    return { kind: 'text', text: quoted ?? value, isExact: quoted !== undefined };
  }
  if (text.startsWith('xpath=')) return { kind: 'xpath', expression: text.slice('xpath='.length) };
  if (text.startsWith('//') || text.startsWith('(//')) return { kind: 'xpath', expression: text };
  return { kind: 'css', selector: text.startsWith('css=') ? text.slice('css='.length) : text };
}

function emptyText(target: string): ToolError {
  return new ToolError('INVALID_SELECTOR', `${JSON.stringify(target)} contains no text.`, {
    hint: 'Add the text, such as text=Save.',
    details: { target },
  });
}
