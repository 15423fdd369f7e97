import { asText } from '../wire/json.ts';

interface Format {
  /** An example; each variant is another text. */
  readonly example: (variant: number) => string;
  readonly shape: RegExp;
}

const two = (variant: number): string => String((variant % 28) + 1).padStart(2, '0');

// The shapes are simple on purpose: none of them can take long.
const FORMATS: Readonly<Record<string, Format>> = {
  date: { example: (variant) => `2026-01-${two(variant)}`, shape: /^\d{4}-\d\d-\d\d$/ },
  time: {
    example: (variant) => `12:${two(variant)}:00Z`,
    shape: /^\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/,
  },
  'date-time': {
    example: (variant) => `2026-01-${two(variant)}T12:00:00Z`,
    shape: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/,
  },
  duration: { example: (variant) => `PT${variant + 1}H`, shape: /^P[\dTYMWDHS]+$/ },
  email: {
    example: (variant) => `user${variant === 0 ? '' : variant}@example.com`,
    shape: /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/,
  },
  hostname: {
    example: (variant) => `host${variant === 0 ? '' : variant}.example.com`,
    shape: /^[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*$/,
  },
  ipv4: {
    example: (variant) => `192.0.2.${(variant % 250) + 1}`,
    shape: /^\d{1,3}(?:\.\d{1,3}){3}$/,
  },
  ipv6: {
    example: (variant) => `2001:db8::${(variant + 1).toString(16)}`,
    shape: /^[\dA-Fa-f:]+$/,
  },
  uri: {
    example: (variant) => `https://example.com/${variant === 0 ? '' : variant}`,
    shape: /^[A-Za-z][\dA-Za-z+.-]*:\S+$/,
  },
  uuid: {
    example: (variant) => `00000000-0000-4000-8000-${(variant + 1).toString(16).padStart(12, '0')}`,
    shape: /^[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}$/,
  },
};
const SAME_AS: Readonly<Record<string, string>> = {
  url: 'uri',
  'uri-reference': 'uri',
  iri: 'uri',
  'idn-email': 'email',
};

function formatOf(format: unknown): Format | undefined {
  const name = asText(format) ?? '';
  const known = SAME_AS[name] ?? name;
  return Object.hasOwn(FORMATS, known) ? FORMATS[known] : undefined;
}

/** An example of a format; undefined if the format is unknown. */
export const exampleOfFormat = (format: unknown, variant: number): string | undefined =>
  formatOf(format)?.example(variant);

/** Whether a text has a format; every text has an unknown one. */
export const isFormat = (format: unknown, text: string): boolean =>
  formatOf(format)?.shape.test(text) ?? true;
