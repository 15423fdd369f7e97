import { readPreference, writePreference } from '../../preferences/preferences.ts';

/** The texts of the fields. */
export interface ParameterTexts {
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly tools: string;
  readonly schema: string;
}

export const NO_PARAMETERS: ParameterTexts = {
  system: '',
  temperature: '',
  maxTokens: '',
  tools: '',
  schema: '',
};

const KEY = 'console-parameters';
/** A larger one is kept until the page is left. */
const CHARS_MAX = 20_000;
/** What the fields are called where they are stored. */
const NAMES = {
  system: 'system',
  temperature: 'temperature',
  maxTokens: 'length',
  tools: 'tools',
  schema: 'schema',
} as const satisfies Record<keyof ParameterTexts, string>;
const FIELDS = Object.keys(NAMES) as readonly (keyof ParameterTexts)[];

/** The fields as they were left in this browser. */
export function storedParameters(): ParameterTexts {
  const texts: Record<keyof ParameterTexts, string> = { ...NO_PARAMETERS };
  const stored = parsed(readPreference(KEY));
  for (const field of FIELDS) {
    const value = stored[NAMES[field]];
    if (typeof value === 'string') texts[field] = value;
  }
  return texts;
}

export function storeParameters(texts: ParameterTexts): void {
  const filled = FIELDS.filter((field) => texts[field] !== '');
  const text = JSON.stringify(
    Object.fromEntries(filled.map((field) => [NAMES[field], texts[field]])),
  );
  if (text.length <= CHARS_MAX) writePreference(KEY, text);
}

function parsed(text: string | null): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text ?? '{}')) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
