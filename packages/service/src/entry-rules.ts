import { assertRegistration, registrationOf } from '@model-gateway/backends';
import type { EntryRules } from '@model-gateway/config-file';
import { isPrivateHost } from '@model-gateway/outbound';

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
