import { a11y } from './a11y.ts';
import { click } from './click.ts';
import type { Command } from './command.ts';
import { clearConsole, consoleMessages, pageErrors } from './console.ts';
import { dom } from './dom.ts';
import { evaluate } from './evaluate.ts';
import { back, forward, reload } from './history.ts';
import { navigate } from './navigate.ts';
import { clearNetwork, network, networkEntry } from './network.ts';
import { press } from './press.ts';
import { resize, viewport } from './resize.ts';
import { screenshot } from './screenshot.ts';
import { scroll } from './scroll.ts';
import { type } from './type.ts';
import { wait, waitForSelector } from './wait.ts';
import { clearWebSockets, webSocketFrames, webSockets } from './websocket.ts';

/** All commands. MCP lists its tools in this order. */
export const commands: readonly Command[] = [
  navigate,
  back,
  forward,
  reload,
  a11y,
  dom,
  screenshot,
  click,
  type,
  press,
  evaluate,
  consoleMessages,
  resize,
  viewport,
  scroll,
  wait,
  waitForSelector,
  clearConsole,
  pageErrors,
  network,
  networkEntry,
  clearNetwork,
  webSockets,
  webSocketFrames,
  clearWebSockets,
] as readonly unknown[] as readonly Command[];
