/** Text on one line. */
export function normalizeText(text: string | null | undefined): string {
  return (text ?? '').replace(/[\s\u200B\u00AD]+/g, ' ').trim();
}

/** The text, cut to at most this many characters. */
export function clipText(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}

/** An element's opening tag with two identifying attributes, such as `<div id="ov" class="modal">`. */
export function tagMarkup(element: Element): string {
  const shown = ['id', 'class', 'name', 'type', 'role']
    .filter((name) => (element.getAttribute(name) ?? '') !== '')
    .slice(0, 2)
    .map((name) => ` ${name}="${clipText(normalizeText(element.getAttribute(name)), 60)}"`);
  return `<${element.localName}${shown.join('')}>`;
}
