import { useSearch } from '@tanstack/react-router';
import { frameSearch, type FrameSearch } from './time-range.ts';

interface TimeRange {
  readonly search: FrameSearch;
  /** Whether new data is shown as it arrives. */
  readonly isLive: boolean;
}

/** The time range of the address. Its ends depend on when the data is asked for. */
export function useTimeRange(): TimeRange {
  const search = frameSearch(useSearch({ strict: false }));
  return { search, isLive: search.paused !== true };
}
