import type { Api } from '../../api/api.ts';

export interface ChainCheck {
  readonly checked: number;
  /** The first entry that does not fit. */
  readonly broken: { readonly seq: number; readonly reason: string } | undefined;
}

/** Checks the whole chain, a step at a time. */
export async function verifyChain(
  api: Pick<Api, 'call'>,
  onProgress: (checked: number) => void,
): Promise<ChainCheck> {
  let checked = 0;
  let known: { after: number | null; hash: string | null } = { after: null, hash: null };
  for (;;) {
    const step = await api.call('audit.verify', known);
    checked += step.checked;
    onProgress(checked);
    if (step.broken !== null) return { checked, broken: step.broken };
    if (!step.has_more) return { checked, broken: undefined };
    known = { after: step.after, hash: step.hash };
  }
}
