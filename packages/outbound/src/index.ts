export {
  createResolveReceiver,
  RefusedReceiver,
  type ResolveReceiver,
} from './resolve-receiver.ts';
export { createSendRequest } from './send-request.ts';
export { webhookSettings } from './settings.ts';
