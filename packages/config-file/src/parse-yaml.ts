import { Composer, Lexer, LineCounter, Parser, type ParsedNode } from 'yaml';

/** A YAML text as nodes, unless something is wrong with the whole text. */
export interface ParsedYaml {
  readonly contents: ParsedNode | null;
  readonly lines: LineCounter;
  readonly problems: readonly YamlProblem[];
}

/** Why a text cannot be used, without a value of it. */
export interface YamlProblem {
  readonly message: string;
  readonly offset: number;
}

/** How deep a file may nest. */
export const DEPTH_MAX = 50;
/** Each level is a collection and the entry in it; the innermost value and the document are on the stack, too. */
const STACK_MAX = 2 * DEPTH_MAX + 2;

/**
 * Parses YAML. Stops at nesting that is deeper than a file may have: what the library does with it needs a stack that deep,
 * and a process without stack can end.
 */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens = [];
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > STACK_MAX)
      return { contents: null, lines, problems: [{ message: TOO_LARGE, offset: parser.offset }] };
  }
  tokens.push(...parser.end());
  // The library compares each key of a map with each other, and its messages contain lines of the file.
  const composer = new Composer({ lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const [document, second] = take(composer.compose(tokens, true, text.length), 2);
  const problems = (document?.errors ?? []).map(({ code, pos: [offset] }) => ({
    message: invalidYaml(code),
    offset,
  }));
  if (second !== undefined)
    problems.push({ message: invalidYaml('MULTIPLE_DOCS'), offset: second.range[0] });
  return { contents: document?.contents ?? null, lines, problems };
}

export const TOO_LARGE = 'is too large';

/** What is wrong, without a value of the file. */
export const invalidYaml = (code: string): string =>
  `is not valid YAML: ${code.toLowerCase().replaceAll('_', ' ')}`;

function take<Item>(items: Iterable<Item>, count: number): readonly Item[] {
  const taken: Item[] = [];
  for (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}
