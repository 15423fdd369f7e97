import { useSearch } from '@tanstack/react-router';
import { frameSearch, rangeEnds, type FrameSearch } from './time-range.ts';

interface TimeRange {
  readonly search: FrameSearch;
  /** Whether new data is shown as it arrives. */
  readonly isLive: boolean;
  /** The ends of the range now; call it when the data is asked for. */
  ends(): { readonly from: Date; readonly to: Date };
}

/** The time range of the address. Use `search` in the key of a query and `ends()` in its function. */
export function useTimeRange(): TimeRange {
  const search = frameSearch(useSearch({ strict: false }));
  return {
    search,
    isLive: search.paused !== true,
    ends: () => rangeEnds(search, Date.now()),
  };
}
