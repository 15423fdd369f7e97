import { Suspense, useState, type ReactNode } from 'react';

interface OnceOpenProps {
  readonly isOpen: boolean;
  readonly children: ReactNode;
}

/** Renders something only when it is first opened, because its code is loaded then. What was open stays until it has disappeared. */
export function OnceOpen({ isOpen, children }: OnceOpenProps) {
  const [wasOpen, setWasOpen] = useState(isOpen);
  if (isOpen && !wasOpen) setWasOpen(true);
  return wasOpen ? <Suspense>{children}</Suspense> : null;
}
