import { assertRegistration, registrationOf } from '@model-gateway/backends';
import { isPrivateHost } from '@model-gateway/outbound';
import type { EntryRules } from './config-file/entry-rules.ts';

/** What backends and the network say of the entries of a configuration file. */
export const createEntryRules = ({
  webhookAllowPrivate,
}: {
  readonly webhookAllowPrivate: boolean;
}): EntryRules => ({
  registrationOf,
  assertRegistration,
  mayReceiveWebhooks: (url) => webhookAllowPrivate || !isPrivateHost(url),
});
