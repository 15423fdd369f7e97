import type { ReactNode } from 'react';

interface BadgeProps {
  /** Always together with a word. */
  readonly state: 'good' | 'warning' | 'bad' | 'neutral';
  readonly children: ReactNode;
}

/** The state of a thing. */
export function Badge({ state, children }: BadgeProps) {
  return (
    <span className={`badge badge-${state}`}>
      <span className="badge-dot" aria-hidden />
      {children}
    </span>
  );
}

/** One of several short values. */
export function Chip({ children }: { readonly children: ReactNode }) {
  return <span className="chip">{children}</span>;
}
