/** The HTTP status of each code. A new code only needs to be added here. */
export const HTTP_STATUS = {
  INVALID_JSON: 400,
  INVALID_ARGUMENT: 400,
  INVALID_SELECTOR: 400,
  INVALID_KEY: 400,
  INVALID_URL: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN_HOST: 403,
  FORBIDDEN_ORIGIN: 403,
  URL_BLOCKED: 403,
  NOT_FOUND: 404,
  ELEMENT_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  STALE_REF: 409,
  AMBIGUOUS_TARGET: 409,
  ELEMENT_NOT_VISIBLE: 409,
  ELEMENT_DISABLED: 409,
  ELEMENT_NOT_EDITABLE: 409,
  ELEMENT_COVERED: 409,
  NO_HISTORY: 409,
  PAYLOAD_TOO_LARGE: 413,
  RESULT_TOO_LARGE: 413,
  EVALUATION_FAILED: 422,
  LIMIT_REACHED: 429,
  INTERNAL: 500,
  NOT_SUPPORTED_BY_ENGINE: 501,
  UNSUPPORTED_PLATFORM: 501,
  NAVIGATION_FAILED: 502,
  DOWNLOAD_FAILED: 502,
  CHECKSUM_MISMATCH: 502,
  BROWSER_NOT_FOUND: 503,
  BROWSER_LAUNCH_FAILED: 503,
  BROWSER_CRASHED: 503,
  FETCH_DISABLED: 503,
  ENGINE_LIB_NOT_FOUND: 503,
  ENGINE_ABI_MISMATCH: 503,
  INVALID_BACKEND: 503,
  TIMEOUT: 504,
} as const satisfies Record<string, number>;

/** All error codes of the tool. */
export type ToolErrorCode = keyof typeof HTTP_STATUS;

interface ToolErrorOptions {
  /** The next step for the caller, as a separate sentence. */
  readonly hint?: string;
  /** Structured data for programs. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Only for the log. */
  readonly cause?: unknown;
}

/** An error for callers: what happened, and what to do next. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: ToolErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  /** Compares by name, because the MCP bundle contains its own copy of this class. */
  static override [Symbol.hasInstance](thrown: unknown): boolean {
    return (
      typeof thrown === 'object' &&
      thrown !== null &&
      'name' in thrown &&
      thrown.name === 'ToolError'
    );
  }

  constructor(code: ToolErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(oneLine(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint === undefined ? undefined : oneLine(options.hint);
    this.details = options.details;
  }

  /** The complete text for callers: what happened, then the next step. */
  get sentence(): string {
    return this.hint === undefined ? this.message : `${this.message} ${this.hint}`;
  }
}

/**
 * The errors of a page and its elements: the code, what happened, and the next step. `{name}` stands for a value.
 */
const PAGE_ERRORS = {
  ambiguous: [
    'AMBIGUOUS_TARGET',
    '{target} matches {count} elements: {listed}.',
    'Use one of these refs, or a narrower selector.',
  ],
  badValue: [
    'INVALID_ARGUMENT',
    '{element} does not accept {text}: it expects {expected}.',
    'Its value is still {value}.',
  ],
  covered: [
    'ELEMENT_COVERED',
    '{element} is covered by {cover}.',
    'Close or click that element first, or pass force:true.',
  ],
  coveredAround: [
    'ELEMENT_COVERED',
    'Clicks on {element} go to {cover} around it.',
    'It is inert or clipped there, lets clicks through, or a pseudo-element of that one covers it. Use another element, or enable it first.',
  ],
  disabled: [
    'ELEMENT_DISABLED',
    '{element} is disabled{waited}.',
    'Enable it first, for example by filling in required fields.',
  ],
  disabledOption: [
    'ELEMENT_DISABLED',
    'The option {text} of {element} is disabled.',
    'Enabled options: {options}.',
  ],
  focusTaken: [
    'ELEMENT_NOT_EDITABLE',
    '{element} does not keep the keyboard focus: {other} has it.',
    'Type into that element, or close what takes the focus.',
  ],
  frameSilent: [
    'TIMEOUT',
    'The frame of {frame} does not respond.',
    'A script in it does not end: use the rest of the page, or navigate to it again.',
  ],
  invalidSelector: [
    'INVALID_SELECTOR',
    '{target} is not a valid selector: {reason}.',
    'Use a ref such as e12, a CSS selector, text=…, or xpath=….',
  ],
  loadTimeout: [
    'TIMEOUT',
    '{page} did not load within {ms} ms.',
    'Raise timeoutMs, or wait for less with waitUntil:"commit".',
  ],
  missedClick: [
    'TIMEOUT',
    '{element} did not receive the click within {ms} ms{why}.',
    'Call browser_snapshot to see how the page changed, or pass force:true.',
  ],
  moving: [
    'TIMEOUT',
    '{element} kept moving{waited}.',
    'Wait until the animation ends, or pass force:true.',
  ],
  navigated: [
    'STALE_REF',
    'The page navigated to {now} while the command ran.',
    'Call browser_snapshot to see the current page, then call again.',
  ],
  neverIssued: [
    'ELEMENT_NOT_FOUND',
    '{target} was never issued.',
    'Call browser_snapshot for refs.',
  ],
  noHistory: [
    'NO_HISTORY',
    'There is no page to go {direction} to from {url}.',
    'Navigate to an address instead.',
  ],
  noOption: ['INVALID_ARGUMENT', '{element} has no option {text}.', 'Its options: {options}.'],
  notDrawn: [
    'RESULT_TOO_LARGE',
    'The browser could not draw an image of {width}x{height} pixels.',
    'Ask for a smaller one with maxDimension, or resize the viewport.',
  ],
  notEditable: ['ELEMENT_NOT_EDITABLE', '{element} does not accept text.', '{hint}'],
  notFocusable: [
    'INVALID_ARGUMENT',
    '{element} cannot have the keyboard focus.',
    'Choose a field, a button or a link, or leave the target out to press the key where the focus is.',
  ],
  notFound: [
    'ELEMENT_NOT_FOUND',
    'No element matches {target}{waited}.',
    'Call browser_snapshot to see what is on the page.',
  ],
  notVisible: [
    'ELEMENT_NOT_VISIBLE',
    '{element} is not visible{waited}.',
    'It is hidden or has no size: make it visible first, or choose another element.',
  ],
  originBlocked: [
    'URL_BLOCKED',
    '{page} not among the allowed origins.',
    'Add {origin} to BROWSER_ALLOWED_ORIGINS.',
  ],
  outOfView: [
    'ELEMENT_NOT_VISIBLE',
    '{element} is outside of the viewport and cannot be scrolled into view.',
    'Resize the viewport, or choose another element.',
  ],
  removed: [
    'STALE_REF',
    '{target} is no longer in the page.',
    'Call browser_snapshot for fresh refs.',
  ],
  scriptTimeout: [
    'TIMEOUT',
    'The script did not finish within {ms} ms.',
    'Raise timeoutMs, or make the script do less.',
  ],
  staleDocument: [
    'STALE_REF',
    '{target} belonged to {was} which is no longer loaded (now {now}).',
    'Call browser_snapshot for fresh refs.',
  ],
  stillNavigating: [
    'TIMEOUT',
    'The page is navigating to {url}, which did not load within {ms} ms.',
    'Call again with a higher timeoutMs, or navigate to another page.',
  ],
  tabCrashed: ['BROWSER_CRASHED', '{tab} crashed.', 'Call again: a new tab is opened.'],
} as const satisfies Record<string, readonly [ToolErrorCode, string, string]>;

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;
type Values<Name extends keyof typeof PAGE_ERRORS> = Readonly<
  Record<Placeholders<(typeof PAGE_ERRORS)[Name][1 | 2]>, string | number>
>;

/** An error of the table with its values. */
export function pageError<Name extends keyof typeof PAGE_ERRORS>(
  name: Name,
  values: Values<Name>,
  details?: Readonly<Record<string, unknown>>,
): ToolError {
  const [code, text, hint] = PAGE_ERRORS[name];
  const fill = (template: string): string =>
    template.replace(/\{(\w+)\}/g, (_, key: keyof typeof values) => String(values[key]));
  return new ToolError(code, fill(text), {
    hint: fill(hint),
    ...(details === undefined ? {} : { details }),
  });
}

/** An error as both interfaces send it. */
export function errorAnswer({ sentence, code, hint, details }: ToolError) {
  return {
    error: sentence,
    code,
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
  };
}

// Messages quote pages, which may contain any characters, even terminal colors.
// oxlint-disable-next-line no-control-regex -- It removes control characters.
const CONTROL = /\u001B\[[0-9;]*[A-Za-z]|[\u0000-\u001F\u007F]+/g;

const TEXT_CHARS_MAX = 2_000;

function oneLine(text: string): string {
  const shown = text.replace(CONTROL, ' ').trim();
  return shown.length <= TEXT_CHARS_MAX ? shown : `${shown.slice(0, TEXT_CHARS_MAX)}…`;
}
