import { setTimeout as delay } from 'node:timers/promises';
import { Script } from 'node:vm';
import type {
  AccessibleNode,
  Call,
  DomOutcome,
  DomRequest,
  EvaluateOutcome,
  EvaluateRequest,
  ScreenshotOutcome,
  ScreenshotRequest,
  SnapshotOutcome,
  SnapshotRequest,
  WaitOutcome,
  WaitRequest,
} from '../engine.ts';
import { jsonForm } from '../page-scripts/json-value.ts';
import { notReadyError } from '../session/not-ready.ts';
import { ToolError } from '../tool-error.ts';
import { queryOf, type FfiSession } from './ffi-session.ts';
import { notSupported } from './native-calls.ts';

const POLL_MS = 100;
const DEPTH_MAX = 12;
const NODES_MAX = 50_000;
const PNG_SIZE_AT = 16;
const SCRIPT_MARGIN_MS = 1_000;

/** Evaluates a caller's function or expression. */
export async function evaluateFfi(
  session: FfiSession,
  { source, args, target, awaitPromise, timeoutMs }: EvaluateRequest,
  call: Call,
): Promise<EvaluateOutcome> {
  const element =
    target === undefined
      ? ''
      : `state.agent.elementOf(${JSON.stringify(await refOf(session, target, call))}), `;
  const body = `async (state) => {
    const given = ${expressionOf(source)};
    const made = typeof given === 'function' ? given(${element}...${JSON.stringify(args)}) : given;
    const value = ${awaitPromise ? 'await made' : 'made'};
    return { ...(${String(jsonForm)})(value, ${DEPTH_MAX}), type: value === null ? 'null' : typeof value };
  }`;
  const result = await session.channel.run(body, call, timeoutMs + SCRIPT_MARGIN_MS);
  const problem = result.ok ? result.answer.error : result.failure;
  if (!result.ok || problem !== undefined) throw evaluationFailed(problem ?? {});
  const { json, truncated, type } = result.answer.value as {
    readonly json?: string;
    readonly truncated: boolean;
    readonly type: string;
  };
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  return { result: value, type, truncated };
}

/** Elements as the DOM has them. */
export async function domFfi(
  session: FfiSession,
  request: DomRequest,
  call: Call,
): Promise<DomOutcome> {
  const { selector, ...rest } = request;
  const query = selector === undefined ? undefined : await queryOf(session, selector, call);
  const found = await session.channel.agent('inspect', { ...rest, query }, call);
  if (!found.ok) throw notReadyError(selector ?? '', found, 0);
  return { count: found.count, matches: found.matches, truncated: found.truncated };
}

/** The page as an outline of roles and names. */
export async function snapshotFfi(
  session: FfiSession,
  { target, urls, boxes, depth, interactive }: SnapshotRequest,
  call: Call,
): Promise<SnapshotOutcome> {
  const { channel } = session;
  const query = target === undefined ? undefined : await queryOf(session, target, call);
  const tree = await channel.agent('tree', { query, urls, boxes, nodesMax: NODES_MAX }, call);
  if (!tree.ok) throw notReadyError(target ?? '', tree, 0);
  const address = await channel.agent('address', undefined, call);
  const shown = interactive ? onlyInteractive(tree.nodes) : tree.nodes;
  return { ...address, nodes: cutAt(shown, depth ?? Infinity), truncated: tree.truncated };
}

function onlyInteractive(nodes: readonly AccessibleNode[]): readonly AccessibleNode[] {
  return nodes.flatMap((node) => {
    const children = onlyInteractive(node.children);
    return node.ref === undefined ? children : [{ ...node, children }];
  });
}

function cutAt(nodes: readonly AccessibleNode[], depth: number): readonly AccessibleNode[] {
  return nodes.map((node) => ({
    ...node,
    children: depth <= 1 ? [] : cutAt(node.children, depth - 1),
  }));
}

/** Waits until an element is as wanted, or until the time is over. */
export async function waitForFfi(
  session: FfiSession,
  { target, state, timeoutMs }: WaitRequest,
  call: Call,
): Promise<WaitOutcome> {
  const query = await queryOf(session, target, call);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await session.channel.agent('count', { query }, call);
    if (!found.ok) throw notReadyError(target, found, 0);
    const isAsWanted = {
      attached: found.count > 0,
      visible: found.visible > 0,
      hidden: found.visible === 0,
      detached: found.count === 0,
    }[state];
    if (isAsWanted || performance.now() > deadline)
      return { found: isAsWanted, count: found.count };
    await delay(POLL_MS);
    call.signal.throwIfAborted();
  }
}

/** A picture of the page or of one element. Engines make PNG, and scale only as far as they know how to. */
export async function screenshotFfi(
  session: FfiSession,
  { target, fullPage, format, maxDimension, omitBackground }: ScreenshotRequest,
  call: Call,
): Promise<ScreenshotOutcome> {
  if (format !== 'png') throw notSupported(session.backend, `pictures as ${format}, only as png`);
  const area = await areaOf(session, target, fullPage, call);
  const longest = Math.max(area.width, area.height, 1);
  const scale = maxDimension > 0 && longest > maxDimension ? maxDimension / longest : 1;
  const params = {
    clip: target === undefined && scale === 1 ? null : { ...area, scale },
    full_page: fullPage,
    omit_background: omitBackground,
  };
  const bytes = Buffer.from(await session.native.screenshot(params, call));
  if (bytes.length < PNG_SIZE_AT + 8) throw new ToolError('INTERNAL', 'the engine made no PNG.');
  return {
    data: bytes.toString('base64'),
    mimeType: 'image/png',
    width: bytes.readUInt32BE(PNG_SIZE_AT),
    height: bytes.readUInt32BE(PNG_SIZE_AT + 4),
    scale,
    bytes: bytes.length,
  };
}

async function areaOf(
  session: FfiSession,
  target: string | undefined,
  fullPage: boolean,
  call: Call,
) {
  if (target !== undefined) {
    const query = await queryOf(session, target, call);
    const found = await session.channel.agent('locate', { query, scroll: true }, call);
    if (!found.ok) throw notReadyError(target, found, 0);
    if (!found.isVisible)
      throw notReadyError(target, { ok: false, why: 'not-visible', element: found.element }, 0);
    return found.box;
  }
  const size = fullPage
    ? '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]'
    : '[innerWidth, innerHeight]';
  const result = await session.channel.run(`() => ${size}`, call);
  const [width = 0, height = 0] = result.ok ? (result.answer.value as readonly number[]) : [];
  return { x: 0, y: 0, width, height };
}

async function refOf(session: FfiSession, target: string, call: Call): Promise<string> {
  const query = await queryOf(session, target, call);
  const found = await session.channel.agent('locate', { query, scroll: false }, call);
  if (!found.ok) throw notReadyError(target, found, 0);
  return found.element.ref;
}

/** Statements are no expression; only the page itself can run them then. */
function expressionOf(source: string): string {
  const wrapped = `(${source}\n)`;
  try {
    // Only its grammar is looked at; nothing runs here.
    new Script(`async () => ${wrapped}`);
    return wrapped;
  } catch {
    return `(0, eval)(${JSON.stringify(source)})`;
  }
}

function evaluationFailed(problem: {
  readonly name?: string | undefined;
  readonly message?: string | undefined;
  readonly stack?: string | undefined;
}): ToolError {
  const { name = 'Error', message = 'it gave no reason', stack = '' } = problem;
  return new ToolError('EVALUATION_FAILED', `${name}: ${message}.`, {
    hint: 'Correct the script and evaluate it again.',
    details: { name, message, stack, line: null, column: null },
  });
}
