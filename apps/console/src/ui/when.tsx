import { useLanguage } from '../preferences/language.tsx';
import { useTooltip } from './use-tooltip.tsx';

/** A time as "3 minutes ago"; the exact time on hover and focus. */
export function When({ time }: { readonly time: string }) {
  const { format } = useLanguage();
  const { trigger, popup } = useTooltip(format.dateTime(time));
  return (
    <>
      <time dateTime={time} tabIndex={0} {...trigger}>
        {format.relative(time)}
      </time>
      {popup}
    </>
  );
}
