import type { Call, PageAddress } from '../engine.ts';
import { isDocumentGone, type Agent } from './agent.ts';
import { shownUrl } from './frames.ts';
import type { Page } from './page.ts';

const ATTEMPTS = 3;

/** Where the page is and what it is called, also while it is moving on. */
export async function readAddress(page: Page, agent: Agent, call: Call): Promise<PageAddress> {
  for (let attempt = 1; attempt <= ATTEMPTS && !page.isGone; attempt += 1) {
    try {
      const { url, title } = await agent.call(page, page.main.id, 'address', undefined, call);
      return { url: page.main.unreachableUrl ?? url, title };
    } catch (error) {
      if (!isDocumentGone(error)) throw error;
    }
  }
  return { url: shownUrl(page.main), title: '' };
}
