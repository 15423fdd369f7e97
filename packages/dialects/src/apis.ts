import { chatApi } from './chat/api.ts';
import type { ClientApi } from './client-api.ts';
import { messagesApi } from './messages/api.ts';
import { responsesApi } from './responses/api.ts';

/** Every API of a chat turn that clients speak. */
export const CLIENT_APIS: readonly ClientApi[] = [chatApi, messagesApi, responsesApi];
