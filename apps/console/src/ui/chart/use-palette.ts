import { useEffect, useState } from 'react';

/** The colors of the current theme, for a canvas. */
export interface Palette {
  readonly series: readonly string[];
  readonly text: string;
  readonly line: string;
  readonly font: string;
}

const SERIES = 8;

/** The canvas of a chart does not see style sheets: the colors are read again when the theme changes. */
export function usePalette(): Palette {
  const [palette, setPalette] = useState(readPalette);
  useEffect(() => {
    const onChange = (): void => setPalette(readPalette());
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', onChange);
    const attributes = new MutationObserver(onChange);
    attributes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      scheme.removeEventListener('change', onChange);
      attributes.disconnect();
    };
  }, []);
  return palette;
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(name).trim();
  return {
    series: Array.from({ length: SERIES }, (_, index) => token(`--series-${index + 1}`)),
    text: token('--text-soft'),
    line: token('--line'),
    font: `12px ${token('--font')}`,
  };
}
