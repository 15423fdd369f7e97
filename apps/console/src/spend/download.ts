import type { Api } from '../api/api.ts';
import type { FrameSearch } from '../frame/time-range.ts';
import type { FilterParams } from './filter-search.ts';
import { shownPeriod, type Dimension } from './spend-series.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** Saves the sums that a range shows as a file. The token is in a header: an address would be kept in the history. */
export async function downloadCsv(
  api: Api,
  range: FrameSearch,
  params: FilterParams,
  by: Dimension,
): Promise<void> {
  const query = new URLSearchParams({
    ...(params as Readonly<Record<string, string>>),
    ...shownPeriod(range, Date.now()),
    group_by: by,
  });
  const content = await api.file(`/api/usage.csv?${query}`);
  // Without the mark Excel reads names in other scripts as Latin letters.
  saveFile(`usage-by-${by}.csv`, new Blob([BYTE_ORDER_MARK, content], { type: content.type }));
}

function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
