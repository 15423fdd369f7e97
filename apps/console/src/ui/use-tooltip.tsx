import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';

const TooltipPopup = lazy(async () => ({
  default: (await import('./tooltip-popup.tsx')).TooltipPopup,
}));

const SHOW_MS = 300;
/** Time for the pointer to reach the text. */
const HIDE_MS = 150;

interface TooltipTrigger {
  onMouseEnter(event: { readonly currentTarget: Element }): void;
  onMouseLeave(): void;
  onMouseDown(): void;
  onFocus(event: { readonly currentTarget: Element }): void;
  onBlur(): void;
}

/** A short text on hover and focus of an element. It only repeats or shortens what is reachable otherwise. Its code is loaded when it is first shown. */
export function useTooltip(text: () => string): {
  readonly trigger: TooltipTrigger;
  readonly popup: ReactNode;
} {
  const [anchor, setAnchor] = useState<Element>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: Element | undefined, ms = 0): void => {
    clearTimeout(timer.current);
    if (ms === 0) setAnchor(next);
    else timer.current = setTimeout(() => setAnchor(next), ms);
  };
  return {
    trigger: {
      onMouseEnter: ({ currentTarget }) => change(currentTarget, SHOW_MS),
      onMouseLeave: () => change(undefined, HIDE_MS),
      onMouseDown: () => change(undefined),
      onFocus: ({ currentTarget }) => {
        // Later, as for the pointer: moving from row to row must not wait for the texts in between.
        if (currentTarget.matches(':focus-visible')) change(currentTarget, SHOW_MS);
      },
      onBlur: () => change(undefined),
    },
    popup:
      anchor === undefined ? null : (
        <Suspense>
          <TooltipPopup
            text={text()}
            anchor={anchor}
            onEnter={() => change(anchor)}
            onLeave={() => change(undefined, HIDE_MS)}
            onClose={() => change(undefined)}
          />
        </Suspense>
      ),
  };
}
