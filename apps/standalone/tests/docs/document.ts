import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fenced block of a document. */
export interface Block {
  /** `docs/video.md:12`. */
  readonly place: string;
  readonly language: string;
  /** The heading above it. */
  readonly heading: string;
  readonly text: string;
  /** Whether it shows the output of the block before it. */
  readonly isOutput: boolean;
  /** The file that the reader creates from it. */
  readonly writes: string | undefined;
  /** Why no test runs it. */
  readonly notRun: string | undefined;
  /** Whether the shown output may appear a moment later. */
  readonly isEventual: boolean;
}

/** The blocks, headings and links of a document. */
export interface Document {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The anchors of its headings, as GitHub creates them. */
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly Link[];
}

interface Link {
  readonly place: string;
  readonly target: string;
}

interface Fence {
  readonly indent: string;
  readonly info: readonly string[];
  readonly lines: string[];
  readonly line: number;
  readonly marks: readonly string[];
}

const FENCE = /^( *)```+(.*)$/;
const MARK = /^ *<!-- (.+) -->$/;
const LINK = /(?<!!)\[[^\]]*\]\(([^)\s]+)\)/g;
const MARKS = /^(not run: .+|background|eventually)$/;

/** Reads a document of the repository. */
export function readDocument(root: string, path: string): Document {
  const text = readFileSync(join(root, path), 'utf8');
  const blocks: Block[] = [];
  const anchors = new Set<string>();
  const links: Link[] = [];
  let heading = '';
  let marks: string[] = [];
  let fence: Fence | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const place = `${path}:${index + 1}`;
    const [, indent = '', info = ''] = FENCE.exec(line) ?? [];
    const isFence = FENCE.test(line);
    if (fence !== undefined) {
      if (isFence && info.trim() === '') {
        blocks.push(blockOf(path, heading, fence));
        fence = undefined;
      } else
        fence.lines.push(line.startsWith(fence.indent) ? line.slice(fence.indent.length) : line);
      continue;
    }
    if (isFence) {
      fence = { indent, info: info.trim().split(/\s+/), lines: [], line: index + 1, marks };
      marks = [];
      continue;
    }
    const mark = MARK.exec(line)?.[1];
    if (mark !== undefined && MARKS.test(mark)) marks.push(mark);
    else if (line.trim() !== '') marks = [];
    const title = /^#+ (.+)$/.exec(line)?.[1];
    if (title !== undefined) {
      heading = title;
      anchors.add(newAnchor(title, anchors));
    }
    for (const [, target = ''] of withoutCode(line).matchAll(LINK)) links.push({ place, target });
  }
  return { path, text, blocks, anchors, links };
}

function blockOf(path: string, heading: string, { info, lines, line, marks }: Fence): Block {
  const [language = '', ...words] = info;
  const valueOf = (start: string, among: readonly string[]) =>
    among.find((word) => word.startsWith(start))?.slice(start.length);
  return {
    place: `${path}:${line}`,
    language,
    heading,
    text: lines.join('\n'),
    isOutput: words.includes('output'),
    writes: valueOf('file=', words),
    notRun: valueOf('not run: ', marks),
    isEventual: marks.includes('eventually'),
  };
}

const withoutCode = (line: string): string => line.replaceAll(/`[^`]*`/g, '``');

function newAnchor(title: string, taken: ReadonlySet<string>): string {
  const plain = title
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
  let anchor = plain;
  for (let count = 1; taken.has(anchor); count += 1) anchor = `${plain}-${count}`;
  return anchor;
}
