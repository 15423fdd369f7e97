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
  // A custom property is read as it was written; the color of an element is read as it is shown.
  const probe = document.createElement('span');
  document.body.append(probe);
  const color = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
    series: Array.from({ length: SERIES }, (_, index) => color(`--series-${index + 1}`)),
    text: color('--text-soft'),
    line: color('--line'),
    font: `12px ${getComputedStyle(probe).fontFamily}`,
  };
  probe.remove();
  return palette;
}
