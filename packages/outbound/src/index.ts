export { createResolveReceiver, isPrivateHost, RefusedReceiver } from './resolve-receiver.ts';
export { createSendMail } from './send-mail.ts';
export { createSendRequest } from './send-request.ts';
export { mailSettings, webhookSettings } from './settings.ts';
