// All characters that some readers treat as a line break, and those that control a terminal.
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const CONTROLS = /\s*[\p{Cc}\u2028\u2029]\s*/gu;
const CONTROLS_IN_LINE = /(?!\t)\p{Cc}/gu;
const REFS = /\[ref=([^\]]*)\]?/g;
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
const INDENT = '  ';

/** Removes line breaks and what looks like a ref, so that text of a page cannot imitate a line of the tool. */
export function oneLine(text: string): string {
  const line = CONTROL.test(text) ? text.replace(CONTROLS, ' ') : text;
  return line.replace(REFS, '(ref=$1)');
}

/** Indents the further lines of a text of a page, so that they cannot imitate a line of the tool. */
export function indentLines(text: string): string {
  const lines = text.split(LINE_ENDS).map((line) => line.replace(CONTROLS_IN_LINE, ''));
  return lines.join(`\n${INDENT}`);
}
