import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import {
  RANGE_DEFAULT,
  rangeEnds,
  RANGES,
  type FrameSearch,
  type RangeName,
} from './time-range.ts';

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
        <CustomRange
          initial={rangeEnds(search, Date.now())}
          onClose={() => setCustom(false)}
          onApply={(from, to) => {
            go({ from: from.toISOString(), to: to.toISOString() });
            setCustom(false);
          }}
        />
      ) : null}
    </>
  );
}

interface CustomRangeProps {
  readonly initial: { readonly from: Date; readonly to: Date };
  readonly onClose: () => void;
  readonly onApply: (from: Date, to: Date) => void;
}

function CustomRange({ initial, onClose, onApply }: CustomRangeProps) {
  const { t } = useLanguage();
  const [from, setFrom] = useState(() => localTime(initial.from));
  const [to, setTo] = useState(() => localTime(initial.to));
  const isValid = from !== '' && to !== '' && from < to;
  return (
    <Dialog isOpen onClose={onClose} title={t('frame.range')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isValid) onApply(new Date(from), new Date(to));
        }}
      >
        <TextField
          label={t('frame.range.from')}
          type="datetime-local"
          value={from}
          onValueChange={(value) => setFrom(value)}
        />
        <TextField
          label={t('frame.range.to')}
          type="datetime-local"
          value={to}
          onValueChange={(value) => setTo(value)}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={!isValid}>
            {t('frame.range.apply')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** In the form of an input, in the zone of the viewer. */
function localTime(time: Date): string {
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
