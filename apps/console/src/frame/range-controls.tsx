import { useNavigate, useSearch } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from '../ui/button.tsx';
import { RangePicker } from './range-picker.tsx';
import type { FrameSearch } from './time-range.ts';

/** The time range of a page, and whether new data is shown as it arrives. */
export function RangeControls() {
  const { t } = useLanguage();
  const { paused = false } = useSearch({ strict: false });
  const navigate = useNavigate();
  const Icon = paused ? Play : Pause;
  return (
    <>
      <RangePicker />
      <Button
        aria-pressed={!paused}
        title={t(paused ? 'frame.paused.hint' : 'frame.live.hint')}
        onClick={() =>
          void navigate({
            to: '.',
            search: ({ paused: _paused, ...rest }: FrameSearch) =>
              paused ? rest : { ...rest, paused: true },
          } as never)
        }
      >
        <Icon aria-hidden size={14} /> {t(paused ? 'frame.paused' : 'frame.live')}
      </Button>
    </>
  );
}
