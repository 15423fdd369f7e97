import type { Api } from '../api/api.ts';
import { rangeEnds, type FrameSearch } from '../frame/time-range.ts';
import type { FilterParams } from './filter-search.ts';
import type { Dimension } from './spend-series.ts';

/** Saves the sums of a range as a file. The token is in a header: an address would be kept in the history. */
export async function downloadCsv(
  api: Api,
  range: FrameSearch,
  params: FilterParams,
  by: Dimension,
): Promise<void> {
  const { from, to } = rangeEnds(range, Date.now());
  const query = new URLSearchParams({
    ...(params as Readonly<Record<string, string>>),
    from: from.toISOString(),
    to: to.toISOString(),
    group_by: by,
  });
  saveFile(`usage-by-${by}.csv`, await api.file(`/api/usage.csv?${query}`));
}

function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
