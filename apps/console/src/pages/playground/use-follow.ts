import { useEffect, useRef, useState, type RefObject } from 'react';

/** So near to the end that new text should stay in view. */
const NEAR_PX = 48;

interface Follow {
  /** What scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** What grows in it. */
  readonly content: RefObject<HTMLDivElement | null>;
  readonly isAtEnd: boolean;
  readonly jump: () => void;
}

/** Keeps the end of a growing text in view, unless the reader has scrolled back. */
export function useFollow(): Follow {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);
  const jump = (): void => {
    const element = scroller.current;
    follows.current = true;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  useEffect(() => {
    const [element, growing] = [scroller.current, content.current];
    if (element === null || growing === null) return undefined;
    const onScroll = (): void => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR_PX;
      setAtEnd(follows.current);
    };
    const onGrowth = (): void => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    const sizes = new ResizeObserver(onGrowth);
    sizes.observe(growing);
    sizes.observe(element);
    return () => {
      element.removeEventListener('scroll', onScroll);
      sizes.disconnect();
    };
  }, []);
  return { scroller, content, isAtEnd, jump };
}
