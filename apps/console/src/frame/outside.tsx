import type { ReactNode } from 'react';
import { Brand } from './navigation-list.tsx';

interface OutsideProps {
  /** Whether there is more than one short form. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** What is around a page without the navigation, such as signing in. */
export function Outside({ isWide = false, children }: OutsideProps) {
  return (
    <main className={isWide ? 'outside outside-wide' : 'outside'}>
      <Brand />
      {children}
    </main>
  );
}
