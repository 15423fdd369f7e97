import { useLanguage } from '../preferences/language.tsx';
import { Tooltip } from './tooltip.tsx';

/** A time as "3 minutes ago"; the exact time on hover and focus. */
export function When({ time }: { readonly time: string }) {
  const { format } = useLanguage();
  return (
    <Tooltip text={format.dateTime(time)}>
      <time dateTime={time} tabIndex={0}>
        {format.relative(time)}
      </time>
    </Tooltip>
  );
}
