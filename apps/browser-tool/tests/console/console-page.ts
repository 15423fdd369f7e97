import { waitUntil } from '@model-gateway/testkit';
import type { ToolUnderTest } from '../tool.ts';

/** What tests do with a page of the console. */
export interface ConsolePage {
  open(path: string): Promise<void>;
  /** Waits until the page shows a text. */
  see(text: string): Promise<void>;
  /** Clicks the first button with this name. */
  press(name: string): Promise<void>;
  fill(label: string, text: string): Promise<void>;
  key(key: string): Promise<void>;
  /** Presses Tab until the element has the focus. */
  tabTo(selector: string): Promise<void>;
  evaluate(expression: string): Promise<unknown>;
  signIn(credentials: { readonly email: string; readonly password: string }): Promise<void>;
}

const ACTION_TIMEOUT_MS = 30_000;

export function createConsolePage(tool: ToolUnderTest, url: string): ConsolePage {
  async function evaluate(expression: string): Promise<unknown> {
    const { data } = await tool.post('/evaluate', { expression });
    return (data as { readonly result?: unknown } | undefined)?.result;
  }

  /** Acts on an element, and fails with what the page shows instead. */
  async function act(path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    const answer = await tool.post(path, { timeout_ms: ACTION_TIMEOUT_MS, ...body });
    if (answer.ok) return;
    throw new Error(`${answer.error}\n${String(await evaluate('document.body.innerText'))}`);
  }

  const see = (text: string): Promise<void> =>
    waitUntil(async () => String(await evaluate('document.body.innerText')).includes(text), {
      what: `the text “${text}”`,
    });
  const press = (name: string): Promise<void> =>
    act('/click', {
      target: `xpath=(//button[normalize-space()="${name}" or @aria-label="${name}"])[1]`,
    });
  const fill = (label: string, text: string): Promise<void> =>
    act('/type', {
      target: `//label[normalize-space()="${label}"]/following::*[self::input or self::textarea][1]`,
      text,
    });
  const key = (name: string): Promise<void> => act('/press', { key: name });
  const open = async (path: string): Promise<void> => {
    await tool.open(`${url}${path}`);
    await waitUntil(async () => (await evaluate('document.querySelector("h1") !== null')) === true);
  };
  return {
    open,
    see,
    press,
    fill,
    key,
    evaluate,
    tabTo: (selector) =>
      waitUntil(
        async () => {
          const isThere = `document.activeElement?.matches(${JSON.stringify(selector)}) === true`;
          if ((await evaluate(isThere)) === true) return true;
          await key('Tab');
          return false;
        },
        { what: `the focus on ${selector}` },
      ),
    async signIn({ email, password }) {
      await open('/console/sign-in');
      await fill('Email', email);
      await fill('Password', password);
      await key('Enter');
      await see('Playground');
    },
  };
}

/** The first account of an installation, which is its admin, and its access token. */
export async function registerAdmin(
  url: string,
  credentials: { readonly email: string; readonly password: string },
): Promise<string> {
  const response = await fetch(`${url}/api/session/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(credentials),
  });
  const { access_token: token } = (await response.json()) as { readonly access_token?: string };
  if (token === undefined) throw new Error(`the account was refused: ${response.status}`);
  return token;
}
