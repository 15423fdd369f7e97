import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Select } from '../ui/select.tsx';
import {
  RANGE_DEFAULT,
  rangeEnds,
  RANGES,
  type FrameSearch,
  type RangeName,
} from './time-range.ts';

const CustomRange = lazy(async () => ({
  default: (await import('./custom-range.tsx')).CustomRange,
}));

const NAMES = Object.keys(RANGES) as RangeName[];

/** The time range, which is in the address. */
export function RangePicker() {
  const { t } = useLanguage();
  const search: FrameSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const [isCustom, setCustom] = useState(false);
  const hasEnds = search.range === undefined && search.from !== undefined;
  const go = (next: FrameSearch): void =>
    void navigate({
      to: '.',
      search: ({ range: _range, from: _from, to: _to, ...rest }: FrameSearch) => ({
        ...rest,
        ...next,
      }),
    } as never);
  return (
    <>
      <Select
        label={t('frame.range')}
        isLabelHidden
        value={hasEnds ? 'custom' : (search.range ?? RANGE_DEFAULT)}
        choices={[...NAMES, 'custom' as const].map((name) => ({
          value: name,
          label: t(`frame.range.${name}`),
        }))}
        onChange={(name) => (name === 'custom' ? setCustom(true) : go({ range: name }))}
      />
      {isCustom ? (
        <Suspense>
          <CustomRange
            initial={rangeEnds(search, Date.now())}
            onClose={() => setCustom(false)}
            onApply={(from, to) => {
              go({ from: from.toISOString(), to: to.toISOString() });
              setCustom(false);
            }}
          />
        </Suspense>
      ) : null}
    </>
  );
}
