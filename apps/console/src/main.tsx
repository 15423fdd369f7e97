import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/layers.css';
import './styles/content.css';
import './styles/frame.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { Tooltip } from '@base-ui/react/tooltip';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createApi } from './api/api.ts';
import { watchConnection } from './api/connection.ts';
import { createQueries } from './api/queries.ts';
import { createSession } from './api/session.ts';
import { ApiContext } from './api/use-api.ts';
import { ConnectionContext } from './api/use-connection.ts';
import { LanguageProvider } from './preferences/language.tsx';
import { applyTheme, forgetTab, storedLanguage, storedTheme } from './preferences/preferences.ts';
import { createConsoleRouter } from './routes.ts';
import { loadTexts } from './texts/texts.ts';
import { Toasts } from './ui/toasts.tsx';

applyTheme(storedTheme());
const language = storedLanguage();
document.documentElement.lang = language;
const texts = await loadTexts(language);
const pages = new BroadcastChannel('signed-out');
const session = createSession(undefined, undefined, {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- Only pages of this origin hear the channel.
  announce: () => pages.postMessage(null),
  onAnnounced: (listener) => pages.addEventListener('message', listener),
});
const api = createApi(session, location.origin);
const queries = createQueries();
// What was missed while the stream was away is asked for again.
const connection = watchConnection(api, { onRecovery: () => void queries.invalidateQueries() });
const router = createConsoleRouter({ api, queries });

// Signing out, here or by the service, leads to the sign-in page, and from there back to this one.
let shownUser: string | undefined;
session.onChange(() => {
  const state = session.getState();
  const user = state.status === 'signed-in' ? state.user.id : undefined;
  // Another account signed in with another page: nothing of the one before may stay.
  if (shownUser !== undefined && user !== undefined && user !== shownUser) location.reload();
  shownUser = user;
  if (state.status === 'signed-out') {
    queries.clear();
    forgetTab();
  }
  void router.invalidate();
});

const root = document.querySelector('#root');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <ApiContext value={api}>
          <ConnectionContext value={connection}>
            <QueryClientProvider client={queries}>
              <LanguageProvider initial={{ language, texts }}>
                <Tooltip.Provider>
                  <RouterProvider router={router} />
                  <Toasts />
                </Tooltip.Provider>
              </LanguageProvider>
            </QueryClientProvider>
          </ConnectionContext>
        </ApiContext>
      </CSPProvider>
    </StrictMode>,
  );
