import type { SnapshotRequest } from '../../commands/params.ts';
import type { AccessibleNode, EngineCall, SnapshotOutcome } from '../../engine.ts';
import type { PageNode } from '../../injected/accessible-tree.ts';
import { notReadyError } from '../../session/element-errors.ts';
import { parseTarget } from '../../session/target.ts';
import { readAddress } from '../navigation/address.ts';
import { isDocumentUnloaded, type PageScripts } from './page-scripts.ts';
import type { Elements } from '../input/elements.ts';
import { respondsToScripts } from './frame-responses.ts';
import type { Page } from './page.ts';

const NODES_MAX = 50_000;
const FRAMES_MAX = 50;

/** The accessibility tree of the page, including its frames. */
export async function snapshot(
  page: Page,
  scripts: PageScripts,
  elements: Elements,
  { target, urls, boxes }: SnapshotRequest,
  call: EngineCall,
): Promise<SnapshotOutcome> {
  const frameId = target === undefined ? page.main.id : await elements.frameFor(page, target, call);
  const query = target === undefined ? undefined : parseTarget(target);
  const options = { urls, boxes, nodesMax: NODES_MAX };
  const tree = await readTree(page, scripts, frameId, { query, ...options }, call);
  if (!tree.ok) throw notReadyError(target ?? '', tree, 0);
  const frames = { left: FRAMES_MAX, isCut: false };
  await addFrames(page, scripts, frameId, tree.nodes, options, frames, call);
  return {
    nodes: tree.nodes,
    truncated: tree.truncated || frames.isCut,
    ...(await readAddress(page, scripts, call)),
  };
}

interface TreeOptions {
  readonly query?: ReturnType<typeof parseTarget> | undefined;
  readonly urls: boolean;
  readonly boxes: boolean;
  readonly nodesMax: number;
}

/** Retries once if the page navigates meanwhile. */
async function readTree(
  page: Page,
  scripts: PageScripts,
  frameId: string,
  options: TreeOptions,
  call: EngineCall,
) {
  try {
    return await scripts.call(page, frameId, 'tree', options, call);
  } catch (error) {
    if (!isDocumentUnloaded(error)) throw error;
    return scripts.call(page, frameId, 'tree', options, call);
  }
}

/** Adds the trees of frames to the elements that show them. */
async function addFrames(
  page: Page,
  scripts: PageScripts,
  frameId: string,
  nodes: readonly AccessibleNode[],
  options: TreeOptions,
  frames: { left: number; isCut: boolean },
  call: EngineCall,
): Promise<void> {
  for (const frame of page.frames.children(frameId)) {
    if (frames.left <= 0) {
      frames.isCut = true;
      return;
    }
    frames.left -= 1;
    try {
      const owner = findRef(nodes, await scripts.frameElementRef(page, frame, call));
      if (owner === undefined) continue;
      if (!(await respondsToScripts(page, frame))) {
        owner.states.push('not responding');
        continue;
      }
      const tree = await scripts.call(
        page,
        frame.id,
        'tree',
        { ...options, query: undefined },
        call,
      );
      if (!tree.ok) continue;
      owner.children.push(...tree.nodes);
      await addFrames(page, scripts, frame.id, tree.nodes, options, frames, call);
    } catch (error) {
      // A frame may be removed meanwhile.
      if (!isDocumentUnloaded(error)) throw error;
    }
  }
}

function findRef(nodes: readonly AccessibleNode[], ref: string): PageNode | undefined {
  for (const node of nodes as readonly PageNode[]) {
    const found = node.ref === ref ? node : findRef(node.children, ref);
    if (found !== undefined) return found;
  }
  return undefined;
}
