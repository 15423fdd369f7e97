import type { PageQuery } from '../page-scripts/find-elements.ts';
import { ToolError } from '../tool-error.ts';

const REF = /^(?:@|ref=|\[ref=)?(e[1-9]\d{0,9})\]?$/;

/** Reads a target as callers write it. What looks like a ref is one; `text=`, `xpath=` and `//` say what they are; all else is CSS. */
export function parseTarget(target: string): PageQuery {
  const text = target.trim();
  const ref = REF.exec(text)?.[1];
  if (ref !== undefined) return { kind: 'ref', ref };
  if (text.startsWith('text=')) {
    const wanted = text.slice('text='.length).trim();
    const quoted = /^(["'])(.*)\1$/s.exec(wanted)?.[2];
    if ((quoted ?? wanted).trim() === '') throw emptyText(target);
    return { kind: 'text', text: quoted ?? wanted, isExact: quoted !== undefined };
  }
  if (text.startsWith('xpath=')) return { kind: 'xpath', expression: text.slice('xpath='.length) };
  if (text.startsWith('//') || text.startsWith('(//')) return { kind: 'xpath', expression: text };
  return { kind: 'css', selector: text.startsWith('css=') ? text.slice('css='.length) : text };
}

function emptyText(target: string): ToolError {
  return new ToolError('INVALID_SELECTOR', `${JSON.stringify(target)} names no text.`, {
    hint: 'Write the text after it, such as text=Save.',
    details: { target },
  });
}
