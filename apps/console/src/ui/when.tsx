import { useLanguage } from '../preferences/language.tsx';
import { Tooltip } from './tooltip.tsx';
import { useClockTick } from './use-clock-tick.ts';

/** A time as "3 minutes ago"; the exact time on hover and focus. */
export function When({ time }: { readonly time: string }) {
  const { format } = useLanguage();
  useClockTick();
  return (
    <Tooltip text={format.dateTime(time)}>
      <time dateTime={time} tabIndex={0}>
        {format.relative(time)}
      </time>
    </Tooltip>
  );
}

interface WhenButtonProps {
  readonly time: string;
  readonly onClick: () => void;
}

/** A time that opens the row it is in. */
export function WhenButton({ time, onClick }: WhenButtonProps) {
  const { format } = useLanguage();
  useClockTick();
  return (
    <Tooltip text={format.dateTime(time)}>
      <button type="button" className="link" data-row-button onClick={onClick}>
        {format.relative(time)}
      </button>
    </Tooltip>
  );
}
