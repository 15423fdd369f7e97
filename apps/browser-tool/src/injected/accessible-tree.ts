import type { AccessibleNode } from '../engine.ts';
import { accessibleName, contentText, NAMED_BY_CONTENT } from './accessible-name.ts';
import { composedChildren } from './composed-tree.ts';
import { refOf } from './element-refs.ts';
import { findOne, type NotReady } from './readiness.ts';
import type { PageQuery } from './find-elements.ts';
import { clipText, normalizeText } from './page-text.ts';
import { INTERACTIVE_ROLES, isFocusable, isListBox, roleOf } from './role.ts';
import { descriptionOf, statesOf, valueOf } from './states.ts';
import { hidesText, isHidden } from './visibility.ts';

export interface PageNode extends AccessibleNode {
  readonly states: string[];
  readonly children: PageNode[];
}

interface TreeRequest {
  readonly query?: PageQuery | undefined;
  readonly urls: boolean;
  readonly boxes: boolean;
  readonly nodesMax: number;
}

interface TreeWalk extends TreeRequest {
  count: number;
  truncated: boolean;
  /** Whether the next text continues the previous one. */
  isTextOpen: boolean;
}

/** The maximum depth of elements; deeper ones would overflow the stack. */
const TREE_DEPTH_MAX = 1_000;
/** The maximum depth of nodes; deeper ones become siblings, because browsers do not return deeper values. */
const NODE_DEPTH_MAX = 100;
/** Elements that show another document, which is added to the tree by their ref. */
const FRAME_TAGS: readonly string[] = ['iframe', 'frame', 'object', 'embed'];

/** The accessibility tree of the page or of one element. */
export function accessibleTree(
  request: TreeRequest,
):
  | NotReady
  | { readonly ok: true; readonly nodes: readonly PageNode[]; readonly truncated: boolean } {
  const walk: TreeWalk = { ...request, count: 0, truncated: false, isTextOpen: false };
  let starts: readonly (Element | null)[] = pageRoots();
  if (request.query !== undefined) {
    const found = findOne(request.query);
    if (!found.ok) return found;
    starts = [found.element];
  }
  const nodes: PageNode[] = [];
  for (const start of starts) {
    if (start !== null)
      addElement(start, nodes, walk, { depth: 0, nodeDepth: 0, inPointer: false });
  }
  return { ok: true, nodes: withoutLabels(nodes.map(trimText)), truncated: walk.truncated };
}

/** The root elements of the page. A modal dialog blocks everything behind it. */
function pageRoots(): readonly (Element | null)[] {
  const knowsModals = CSS.supports('selector(:modal)');
  const modals = knowsModals ? [...document.querySelectorAll('dialog:modal')] : [];
  if (modals.length > 0) return modals;
  // Beside the body, if the document is not well-formed.
  const isBroken = document.querySelector('html > parsererror') !== null;
  return [isBroken ? document.documentElement : (document.body ?? document.documentElement)];
}

/** The position of a walk: the depth in elements and in nodes, and whether an ancestor is already clickable. */
interface TreePosition {
  readonly depth: number;
  readonly nodeDepth: number;
  readonly inPointer: boolean;
}

/** Adds an element to the list: as a node, or its children instead. */
function addElement(element: Element, list: PageNode[], walk: TreeWalk, place: TreePosition): void {
  if (['script', 'style', 'template', 'noscript', 'head', 'title'].includes(element.localName))
    return;
  const style = getComputedStyle(element);
  if (isHidden(element, style)) return;
  if (place.depth > TREE_DEPTH_MAX || walk.count >= walk.nodesMax) {
    walk.truncated = true;
    return;
  }
  const isShown = style.visibility === 'visible';
  const role = roleOf(element);
  const isControl =
    INTERACTIVE_ROLES.includes(role) ||
    isFocusable(element) ||
    FRAME_TAGS.includes(element.localName);
  // A label is clicked through its control.
  const isPointer = style.cursor === 'pointer' && element.localName !== 'label';
  const isInteractive =
    isShown && !isClosedOption(element) && (isControl || (isPointer && !place.inPointer));
  const inside: TreePosition = {
    depth: place.depth + 1,
    nodeDepth: place.nodeDepth,
    inPointer: style.cursor === 'pointer' || (isControl && NAMED_BY_CONTENT.includes(role)),
  };
  const isPlain = role === 'generic' || role === 'none';
  if ((isPlain && !isInteractive) || !isShown) {
    addInPlace(element, style, list, walk, inside);
    return;
  }
  const node = nodeOf(element, role, isInteractive, walk);
  if (role === 'img' && node.name === '' && !isInteractive) {
    if (element.localName === 'svg') addDrawnControls(element, list, walk, inside);
    return;
  }
  walk.count += 1;
  list.push(node);
  walk.isTextOpen = false;
  const below: TreePosition = { ...inside, nodeDepth: place.nodeDepth + 1 };
  if (element.localName === 'svg') addDrawnControls(element, node.children, walk, below);
  else if (!isLeaf(element, role)) addChildren(element, node, walk, below);
  walk.isTextOpen = false;
  if (below.nodeDepth >= NODE_DEPTH_MAX) list.push(...node.children.splice(0));
  // A wrapper with a pointer cursor is clicked through the control in it.
  if (isPlain && !isControl && hasRef(node.children)) list.splice(-1, 1, ...node.children);
}

function hasRef(nodes: readonly PageNode[]): boolean {
  return nodes.some((node) => node.ref !== undefined || hasRef(node.children));
}

/** Adds only the interactive parts of a drawing. */
function addDrawnControls(
  drawing: Element,
  list: PageNode[],
  walk: TreeWalk,
  place: TreePosition,
): void {
  const { count, isTextOpen } = walk;
  const drawn: PageNode[] = [];
  for (const child of drawing.children) addElement(child, drawn, walk, place);
  const kept = drawn.filter((node) => hasRef([node]));
  walk.count = count + kept.length;
  walk.isTextOpen = isTextOpen && kept.length === 0;
  list.push(...kept.map(trimText));
}

/** Whether it is an option of a closed select, which is chosen through the select. */
function isClosedOption(element: Element): boolean {
  const select = element.localName === 'option' ? element.closest('select') : null;
  return select !== null && !isListBox(select);
}

/** Adds the children of an element without a node of its own. Text before and after a block is not joined. */
function addInPlace(
  element: Element,
  style: CSSStyleDeclaration,
  list: PageNode[],
  walk: TreeWalk,
  inside: TreePosition,
): void {
  if (element.localName === 'br') {
    addText(' ', list, walk);
    return;
  }
  const isBlock = !style.display.startsWith('inline') && style.display !== 'contents';
  if (isBlock) walk.isTextOpen = false;
  const before = list.length;
  for (const child of composedChildren(element)) addNode(child, list, walk, inside, style);
  if (element.localName === 'label') dropOwnLabel(element as HTMLLabelElement, list, before);
  if (isBlock) walk.isTextOpen = false;
}

function addNode(
  node: Node,
  list: PageNode[],
  walk: TreeWalk,
  place: TreePosition,
  style: CSSStyleDeclaration,
): void {
  if (node instanceof Element) addElement(node, list, walk, place);
  else if (node.nodeType === Node.TEXT_NODE && style.visibility === 'visible') {
    if (!hidesText(node.parentElement, style)) addText(node.nodeValue ?? '', list, walk);
  }
}

/** Joins text with the text before it, unless a block ended between them. */
function addText(text: string, list: PageNode[], walk: TreeWalk): void {
  const last = list.at(-1);
  const spaced = text.replace(/[\s\u200B\u00AD]+/g, ' ');
  if (walk.isTextOpen && last?.role === 'text') {
    list[list.length - 1] = { ...last, name: (last.name + spaced).replace(/ {2,}/g, ' ') };
  } else if (spaced.trim() !== '') {
    walk.count += 1;
    walk.isTextOpen = true;
    list.push({ role: 'text', name: spaced, states: [], children: [] });
  }
}

function trimText(node: PageNode): PageNode {
  return node.role === 'text' ? { ...node, name: node.name.trim() } : node;
}

/** Removes text next to a control that only repeats its name. */
function withoutLabels(nodes: readonly PageNode[]): readonly PageNode[] {
  return nodes.filter((node, index) => {
    if (node.role !== 'text') return true;
    return ![nodes[index - 1], nodes[index + 1]].some(
      (beside) => beside?.ref !== undefined && beside.name === node.name,
    );
  });
}

/** Removes the text of a label that its control has as its name. */
function dropOwnLabel(label: HTMLLabelElement, list: PageNode[], from: number): void {
  const { control } = label;
  if (control === null) return;
  const name = accessibleName(control, roleOf(control));
  const kept = list
    .slice(from)
    .filter((node) => node.role !== 'text' || !name.includes(node.name.trim()));
  list.splice(from, list.length - from, ...kept);
}

function nodeOf(element: Element, role: string, isInteractive: boolean, walk: TreeWalk): PageNode {
  const name = accessibleName(element, role);
  const description = descriptionOf(element, name);
  const value = valueOf(element, role);
  const url = walk.urls && role === 'link' ? linkAddress(element) : undefined;
  const { x, y, width, height } = walk.boxes ? element.getBoundingClientRect() : new DOMRect();
  return {
    role,
    name,
    ...(description === '' ? {} : { description }),
    ...(value === undefined ? {} : { value: clipText(value, 1_000) }),
    states: statesOf(element, role),
    ...(isInteractive ? { ref: refOf(element) } : {}),
    tag: element.localName,
    ...(url === undefined ? {} : { url }),
    ...(walk.boxes
      ? { box: [Math.round(x), Math.round(y), Math.round(width), Math.round(height)] as const }
      : {}),
    children: [],
  };
}

/** The URL of a link; links in SVG have no string in `href`. */
function linkAddress(element: Element): string | undefined {
  const { href } = element as HTMLAnchorElement | SVGAElement;
  return typeof href === 'string' ? href : (element.getAttribute('href') ?? undefined);
}

/** Whether its name or value already contains its content. */
function isLeaf(element: Element, role: string): boolean {
  if (
    ['input', 'textarea', 'iframe', 'frame', 'canvas', 'video', 'audio'].includes(element.localName)
  ) {
    return true;
  }
  return role === 'textbox' || role === 'img' || role === 'progressbar' || role === 'meter';
}

/** Adds the children, without text that the name already contains. */
function addChildren(element: Element, node: PageNode, walk: TreeWalk, place: TreePosition): void {
  const style = getComputedStyle(element);
  const { children } = node;
  for (const child of composedChildren(element)) addNode(child, children, walk, place, style);
  const kept = children.map(trimText);
  const isNamedByContent = NAMED_BY_CONTENT.includes(node.role) && node.name !== '';
  const left = withoutLabels(
    isNamedByContent ? kept.filter((child) => !isPartOfName(node, child)) : kept,
  );
  children.splice(0, children.length, ...left);
  if (['fieldset', 'table', 'figure'].includes(element.localName)) dropCaption(element, node);
}

/** Whether the name of a control contains all text of a child. */
function isPartOfName(node: PageNode, child: PageNode): boolean {
  if (child.ref !== undefined) return false;
  if (!['text', 'img', 'paragraph'].includes(child.role)) return false;
  return (
    node.name.includes(child.name) && child.children.every((inner) => isPartOfName(node, inner))
  );
}

/** Removes a legend or caption that is the name of its element. */
function dropCaption(element: Element, node: PageNode): void {
  const naming = element.querySelector(':scope > legend, :scope > caption, :scope > figcaption');
  if (naming === null || node.name === '') return;
  const text = normalizeText(contentText(naming));
  const index = node.children.findIndex(
    (child) =>
      (child.role === 'text' && child.name === text) ||
      (child.role === 'caption' && child.children[0]?.name === text),
  );
  if (index >= 0) node.children.splice(index, 1);
}
