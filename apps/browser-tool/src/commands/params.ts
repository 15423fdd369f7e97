import { z } from 'zod';

// The parameters of the commands that an engine runs. They are apart from the commands, because engines use their types.

/** How long to wait until an element is ready. */
const READY_TIMEOUT_MS = 5_000;
const NAVIGATION_TIMEOUT_MS = 30_000;
const SCRIPT_TIMEOUT_MS = 30_000;
const WAIT_TIMEOUT_MS = 10_000;
const TIMEOUT_MS_MAX = 600_000;
const TEXT_CHARS_MAX = 500_000;
const KEY_CHARS_MAX = 100;
const PRESSES_MAX = 100;
const SIDE_PIXELS_MAX = 10_000;
const SCALE_MAX = 10;
const DIMENSION_DEFAULT = 1_568;
/** The largest image that a caller can ask for. */
export const DIMENSION_MAX = 20_000;
const ELEMENTS_DEFAULT = 20;
const ELEMENTS_MAX = 1_000;
const DOM_CHARS_DEFAULT = 20_000;
const CHARS_MAX = 5_000_000;
const DEPTH_MAX = 1_000;

const timeoutMs = (fallback: number) => z.int().min(0).max(TIMEOUT_MS_MAX).default(fallback);
/** An element as callers name it: `e12`, a CSS selector, `text=…`, `xpath=…` or `//…`. */
const target = z.string().min(1);
const side = z.int().min(1).max(SIDE_PIXELS_MAX);

/** How the dialogs of a call are answered. */
const dialogParams = {
  dialog: z.enum(['accept', 'dismiss']).optional(),
  promptText: z.string().optional(),
};
const includeSnapshot = z.boolean().default(false);
/** A description of the element for people, which is not used. */
const element = z.string().optional();

/** The parameters of a command without those that are not for the engine. */
type EngineRequest<Schema extends z.ZodType> = Omit<
  z.output<Schema>,
  'dialog' | 'promptText' | 'includeSnapshot' | 'element'
>;

export const historyParams = z.object({
  /** How much of the page to wait for. */
  waitUntil: z.enum(['commit', 'domcontentloaded', 'load', 'networkidle']).default('load'),
  /** The limit for the document itself. */
  timeoutMs: timeoutMs(NAVIGATION_TIMEOUT_MS),
  ...dialogParams,
  includeSnapshot,
});
export type HistoryRequest = EngineRequest<typeof historyParams>;

export const navigateParams = z.object({
  url: z.string().min(1),
  waitUntil: historyParams.shape.waitUntil,
  waitFor: target.optional(),
  timeoutMs: historyParams.shape.timeoutMs,
  ...dialogParams,
  includeSnapshot,
});
/** Its URL is checked against the policy. */
export type NavigateRequest = Pick<
  z.output<typeof navigateParams>,
  'url' | 'waitUntil' | 'timeoutMs'
>;

export const clickParams = z.object({
  target: target.describe('e12, CSS, text=… or xpath=…'),
  element,
  button: z.enum(['left', 'right', 'middle']).default('left'),
  doubleClick: z.boolean().default(false),
  modifiers: z.array(z.enum(['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'])).default([]),
  /** Relative to the element's top left corner; its center if missing. */
  position: z.object({ x: z.number(), y: z.number() }).optional(),
  force: z.boolean().default(false),
  ...dialogParams,
  timeoutMs: timeoutMs(READY_TIMEOUT_MS),
  includeSnapshot,
});
export type ClickRequest = EngineRequest<typeof clickParams>;
export type MouseButton = ClickRequest['button'];
export type Modifier = ClickRequest['modifiers'][number];

export const typeParams = z.object({
  target,
  text: z.string().max(TEXT_CHARS_MAX),
  element,
  submit: z.boolean().default(false),
  slowly: z.boolean().default(false),
  clear: z.boolean().default(true),
  ...dialogParams,
  timeoutMs: timeoutMs(READY_TIMEOUT_MS),
  includeSnapshot,
});
export type TypeRequest = EngineRequest<typeof typeParams>;

export const pressParams = z.object({
  key: z.string().min(1).max(KEY_CHARS_MAX),
  target: target.optional(),
  count: z.int().min(1).max(PRESSES_MAX).default(1),
  ...dialogParams,
  timeoutMs: timeoutMs(READY_TIMEOUT_MS),
  includeSnapshot,
});
export type PressRequest = EngineRequest<typeof pressParams>;

export const scrollParams = z.object({
  target: target.optional(),
  deltaX: z.number().default(0),
  deltaY: z.number().default(0),
  to: z.enum(['top', 'bottom']).optional(),
  timeoutMs: timeoutMs(READY_TIMEOUT_MS),
});
export type ScrollRequest = EngineRequest<typeof scrollParams>;

export const evaluateParams = z.object({
  /** A function, which gets the target's element, if any, and the arguments; or an expression. */
  function: z.string().min(1),
  target: target.optional(),
  args: z.array(z.unknown()).default([]),
  awaitPromise: z.boolean().default(true),
  ...dialogParams,
  timeoutMs: timeoutMs(SCRIPT_TIMEOUT_MS),
});
export type EvaluateRequest = EngineRequest<typeof evaluateParams>;

export const screenshotParams = z.object({
  target: target.optional(),
  fullPage: z.boolean().default(false),
  format: z.enum(['png', 'jpeg', 'webp']).default('png'),
  quality: z.int().min(1).max(100).optional(),
  /** Of the longer side, in pixels; 0 does not scale. */
  maxDimension: z.int().min(0).max(DIMENSION_MAX).default(DIMENSION_DEFAULT),
  omitBackground: z.boolean().default(false),
  timeoutMs: timeoutMs(READY_TIMEOUT_MS),
});
export type ScreenshotRequest = EngineRequest<typeof screenshotParams>;
export type ImageFormat = ScreenshotRequest['format'];

export const waitForParams = z.object({
  target,
  state: z.enum(['attached', 'visible', 'hidden', 'detached']).default('visible'),
  timeoutMs: timeoutMs(WAIT_TIMEOUT_MS),
  required: z.boolean().default(false),
});
export type WaitRequest = Omit<z.output<typeof waitForParams>, 'required'>;

export const domParams = z.object({
  /** The whole document if missing. */
  selector: target.optional(),
  attribute: z.string().min(1).optional(),
  all: z.boolean().default(false),
  /** True for the most important properties, or a list of properties. */
  computed: z.union([z.boolean(), z.string()]).default(false),
  html: z.enum(['outer', 'inner', 'none']).default('outer'),
  limit: z.int().min(1).max(ELEMENTS_MAX).default(ELEMENTS_DEFAULT),
  maxChars: z.int().min(1).max(CHARS_MAX).default(DOM_CHARS_DEFAULT),
});
export type DomRequest = Omit<z.output<typeof domParams>, 'computed'> & {
  readonly computed: boolean | readonly string[];
};

export const snapshotParams = z.object({
  target: target.optional(),
  interactive: z.boolean().default(false),
  depth: z.int().min(1).max(DEPTH_MAX).optional(),
  urls: z.boolean().default(false),
  boxes: z.boolean().default(false),
  maxChars: z.int().min(100).max(CHARS_MAX).optional(),
  cursor: z
    .string()
    .regex(/^n\d{1,9}$/, 'a cursor from an earlier snapshot')
    .optional(),
  format: z.enum(['tree', 'text']).default('tree'),
});
export type SnapshotRequest = Pick<
  z.output<typeof snapshotParams>,
  'target' | 'depth' | 'interactive' | 'urls' | 'boxes'
>;

export const resizeParams = z.object({
  width: side,
  height: side,
  deviceScaleFactor: z.number().positive().max(SCALE_MAX).optional(),
  mobile: z.boolean().default(false),
});
export type ResizeRequest = EngineRequest<typeof resizeParams>;
