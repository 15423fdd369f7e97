import { common, createLowlight } from 'lowlight';
import type { ReactNode } from 'react';

const lowlight = createLowlight(common);
/** Longer code stays plain: coloring it would hold the page up. */
const CHARS_MAX = 100_000;

type Nodes = ReturnType<typeof lowlight.highlight>['children'];

/** Code with its words in colors; undefined where the language is not known. */
export function highlight(code: string, language: string): ReactNode {
  if (code.length > CHARS_MAX || !lowlight.registered(language)) return undefined;
  return elementsOf(lowlight.highlight(language, code).children);
}

const elementsOf = (nodes: Nodes): ReactNode =>
  nodes.map((node, place) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    const { className } = node.properties;
    return (
      <span key={place} className={Array.isArray(className) ? className.join(' ') : ''}>
        {elementsOf(node.children)}
      </span>
    );
  });
