import { useLanguage } from '../preferences/language.tsx';
import { useClockTick } from './use-clock-tick.ts';
import { useTooltip } from './use-tooltip.tsx';

/** A time as "3 minutes ago"; the exact time on hover and focus. */
export function When({ time }: { readonly time: string }) {
  const { format } = useLanguage();
  useClockTick();
  const { trigger, popup } = useTooltip(() => format.dateTime(time));
  return (
    <>
      <time dateTime={time} tabIndex={0} {...trigger}>
        {format.relative(time)}
      </time>
      {popup}
    </>
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
  const { trigger, popup } = useTooltip(() => format.dateTime(time));
  return (
    <>
      <button type="button" className="link" data-row-button onClick={onClick} {...trigger}>
        {format.relative(time)}
      </button>
      {popup}
    </>
  );
}
