import type { Captures } from '../capture/captures.ts';
import type { EngineCall, PageAddress } from '../engine.ts';
import type { PageQuery } from '../injected/find-elements.ts';
import type { RefRegistry } from '../session/ref-registry.ts';
import { notReadyError } from '../session/not-ready.ts';
import { parseTarget } from '../session/target.ts';
import { ToolError } from '../errors.ts';
import type { NativeCalls } from './native-calls.ts';
import type { PageChannel } from './page-channel.ts';

/** Shared by the parts of an engine with the C interface. */
export interface FfiContext {
  readonly backend: string;
  readonly native: NativeCalls;
  readonly channel: PageChannel;
  readonly captures: Captures;
  readonly refs: RefRegistry;
  /** The last known address, for an engine that cannot run scripts. */
  lastAddress: PageAddress;
  /** Whether the library reports new documents itself. */
  readonly reportsNavigations: boolean;
}

/** Parses a target; a ref must have been issued for the current document. */
export async function queryOf(
  { refs, channel }: FfiContext,
  target: string,
  call: EngineCall,
): Promise<PageQuery> {
  const query = parseTarget(target);
  if (query.kind !== 'ref') return query;
  const issued = refs.find(Number(query.ref.slice(1)));
  if (issued === undefined) {
    throw new ToolError('ELEMENT_NOT_FOUND', `${query.ref} was never issued.`, {
      hint: 'Call browser_snapshot for refs of this page.',
      details: { target },
    });
  }
  const now = await channel.readDocument(call);
  if (issued.id === now.id) return query;
  throw new ToolError(
    'STALE_REF',
    `${query.ref} belonged to ${issued.url} which is no longer loaded (now ${now.url}).`,
    { hint: 'Call browser_snapshot for fresh refs.', details: { target } },
  );
}

/** The ref of the one element that matches a target. */
export async function refOf(ffi: FfiContext, target: string, call: EngineCall): Promise<string> {
  const query = await queryOf(ffi, target, call);
  const found = await ffi.channel.callScript('locate', { query, scroll: false }, call);
  if (!found.ok) throw notReadyError(target, found, 0);
  return found.element.ref;
}
