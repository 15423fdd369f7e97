import { useRouter } from '@tanstack/react-router';
import type { ComponentProps, MouseEvent } from 'react';

interface RowLinkProps extends Omit<ComponentProps<'a'>, 'href' | 'onClick'> {
  readonly to: '/groups' | '/prices' | '/routes/explain';
  readonly search: Readonly<Record<string, string>>;
}

/** A link in a row of a table. It has less than the link of the router, such as loading ahead, which takes long for the rows of a page together. */
export function RowLink({ to, search, ...rest }: RowLinkProps) {
  const router = useRouter();
  const href = `${router.basepath}${to}${router.options.stringifySearch(search)}`;
  const open = (event: MouseEvent): void => {
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (isElsewhere || event.button !== 0) return;
    event.preventDefault();
    void router.navigate({ to, search } as never);
  };
  return <a {...rest} href={href} onClick={open} />;
}
